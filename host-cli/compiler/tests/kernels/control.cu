// Kernels with every kind of flow that a compiler makes of structured code. Written for the tests
// of the register allocator; they compute nothing of interest.
//
//   nvcc -ptx -arch=compute_75 -O3 control.cu -o nvcc.ptx
//   clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_50
//         --cuda-feature=+ptx63 -O2 -S control.cu -o clang.ptx

#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define CTAID __nvvm_read_ptx_sreg_ctaid_x()
#define NTID __nvvm_read_ptx_sreg_ntid_x()
#define BARRIER __syncthreads()
#define NOINLINE __attribute__((noinline))
#else
#include <cstdio>
#define TID threadIdx.x
#define CTAID blockIdx.x
#define NTID blockDim.x
#define BARRIER __syncthreads()
#define NOINLINE __noinline__
#endif

extern "C" __global__ void nested_loops(const int *in, int *out, int n) {
  int sum = 0, product = 1;
  for (int i = TID; i < n; i += 3) {
    int x = in[i];
    for (int j = 0; j < x; ++j) {
      if (in[j] == 7) break;
      if (in[j] < 0) continue;
      product *= j + in[j];
      sum += product;
    }
    sum ^= x;
  }
  out[TID] = sum + product;
}

extern "C" __global__ void diamonds(const float *in, double *out, int n) {
  int i = CTAID * NTID + TID;
  if (i >= n) return;
  float a = in[i], b = in[i + n];
  double d = 1.0;
  if (a > b) {
    d = a * 2.0;
    if (a > 4 * b) d = d * d + b;
    else d = d - a;
  } else if (a == b) {
    d = b;
    out[i + n] = d;
  }
  out[i] = d * a;
}

extern "C" __global__ void shared_scan(int *data, int n) {
  __shared__ int tile[256];
  int t = TID;
  tile[t] = data[CTAID * 256 + t];
  BARRIER;
  for (int step = 1; step < n; step *= 2) {
    int v = 0;
    if (t >= step) v = tile[t - step];
    BARRIER;
    tile[t] += v;
    BARRIER;
  }
  data[CTAID * 256 + t] = tile[t];
}

extern "C" __global__ void collatz(const unsigned long long *in, int *out) {
  unsigned long long x = in[TID];
  int steps = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    if (++steps > 1000) {
      out[TID] = -1;
      return;
    }
  }
  out[TID] = steps;
}

extern "C" __global__ void choose(const int *in, int *out, int k) {
  int x = in[TID], y = in[TID + 32];
  switch (k + x) {
    case 0: y = x * 3; break;
    case 1: y += out[x]; break;
    case 2: y = in[y]; // falls through
    case 3: y ^= x; break;
    case 4: y = y / x; break;
    case 5: out[y] = x; return;
    default: y = -y;
  }
  out[TID] = y;
}

NOINLINE __device__ float shade(float x, int *count) {
  if (x < 0) return -x;
  *count += 1;
  float y = x * x;
  for (int i = 0; i < *count; ++i) y = y * x + 1;
  return y;
}

extern "C" __global__ void calls(float *data, int *counts) {
  int count = counts[TID];
  float x = data[TID];
  float y = shade(x, &count);
  if (y > 10) y = shade(y - x, &count) + x;
  data[TID] = y;
  counts[TID] = count;
}

#ifndef __clang__
extern "C" __global__ void prints(const int *in) {
  if (in[TID] > 3) printf("%d of %d\n", in[TID], TID);
}
#endif
