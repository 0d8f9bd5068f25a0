extern "C" __global__ void vectoradd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
#define T 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[T][T], tb[T][T];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x*T+x, row = blockIdx.y*T+y;
  float s = 0;
  for (int k = 0; k < n; k += T) {
    ta[y][x] = a[row*n + k + x];
    tb[y][x] = b[(k+y)*n + col];
    __syncthreads();
    for (int j = 0; j < T; j++) s += ta[y][j]*tb[j][x];
    __syncthreads();
  }
  c[row*n+col] = s;
}
extern "C" __global__ void reduce(const int* a, int* out, int n) {
  __shared__ int part[32];
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  int v = 0;
  for (; i < n; i += gridDim.x*blockDim.x) v += a[i];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x/32 ? part[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
extern "C" __global__ void nbody(const float4* p, float4* acc, int n) {
  extern __shared__ float4 sp[];
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  float4 me = p[i]; float ax=0, ay=0, az=0;
  for (int t = 0; t < n; t += blockDim.x) {
    sp[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
    #pragma unroll 4
    for (int j = 0; j < blockDim.x; j++) {
      float4 q = sp[j];
      float dx=q.x-me.x, dy=q.y-me.y, dz=q.z-me.z;
      float d = dx*dx+dy*dy+dz*dz+0.01f;
      float r = rsqrtf(d); float w = q.w*r*r*r;
      ax += dx*w; ay += dy*w; az += dz*w;
    }
    __syncthreads();
  }
  acc[i] = make_float4(ax, ay, az, 0);
}
#include <stdio.h>
#include <assert.h>
__device__ int fib(int n) { int a=0,b=1; for(int i=0;i<n;i++){int t=a+b;a=b;b=t;} return a; }
extern "C" __global__ void printer(int k) {
  printf("t %d of %u: %s %f %lld\n", threadIdx.x, blockDim.x, threadIdx.x & 1 ? "odd" : "even", 0.5*threadIdx.x, (long long)k << 33);
  assert(threadIdx.x < k);
}
extern "C" __global__ void collatz(const unsigned* a, unsigned* steps, int n) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = a[i]; unsigned s = 0;
  while (v != 1) { if (v & 1) v = 3*v+1; else v >>= 1; s++; if (s > 500) break; }
  steps[i] = s;
}
extern "C" __global__ void localarr(const int* a, int* out, int n) {
  int buf[17]; int i = threadIdx.x;
  for (int j = 0; j < 17; j++) buf[j] = a[(i*j) % n];
  int k = a[i] & 15; int s = 0;
  while (k != 16) { s += buf[k]*k; buf[k] = 16; k = (k + 5*i + 1) % 17; if (s > 100000) break; }
  out[i] = s + fib(i & 7);
}
