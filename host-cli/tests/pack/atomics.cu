// Atomics: every operation on every type, in global and shared memory, and scopes.
extern "C" __global__ void integers(int *i, unsigned *u, unsigned long long *l, long long *s) {
    int t = threadIdx.x;
    atomicAdd(i, t); atomicSub(i + 1, t); atomicMin(i + 2, -t); atomicMax(i + 3, t); atomicExch(i + 4, 7);
    atomicAnd(i + 5, t); atomicOr(i + 6, t); atomicXor(i + 7, t); atomicCAS(i + 8, 0, t);
    atomicInc(u, 17); atomicDec(u + 1, 17); atomicMin(u + 2, t); atomicMax(u + 3, t);
    atomicAdd(l, 1ull << t % 40); atomicMin(l + 1, t); atomicMax(l + 2, t); atomicAnd(l + 3, ~(unsigned long long)t); atomicOr(l + 4, t);
    atomicXor(l + 5, t); atomicExch(l + 6, 9ull); atomicCAS(l + 7, 0ull, (unsigned long long)t);
    atomicMin(s, -t); atomicMax(s + 1, t);
}
extern "C" __global__ void floats(float *f, double *d) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 0.5f);
    atomicAdd(f, 1.0f);
    atomicExch(f + 1, 2.0f);
    atomicAdd(d, 0.25);
    __syncthreads();
    if (threadIdx.x == 0) f[2] = sum;
}
extern "C" __global__ void scopes(int *v) {
    atomicAdd_block(v, 1);
    atomicAdd_system(v + 1, 1);
    atomicCAS_block(v + 2, 0, 5);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    v[3] = atomicAdd(v + 4, 0);
}
__device__ float atomic_largest(float *at, float v) {
    int *word = (int *)at, old = *word, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= v) break;
        old = atomicCAS(word, seen, __float_as_int(v));
    } while (seen != old);
    return __int_as_float(old);
}
extern "C" __global__ void largest(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_largest(out, in[i]);
}
extern "C" __global__ void last_block(const float *in, float *partial, float *total, unsigned *arrived) {
    __shared__ bool last;
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int m = 16; m; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (int b = 0; b < gridDim.x; b++) all += ((volatile float *)partial)[b];
        *total = all;
    }
}
extern "C" __global__ void locked(int *lock, int *value) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *value += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
