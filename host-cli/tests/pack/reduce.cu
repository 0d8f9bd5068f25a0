// Sums of a block: interleaved, sequential, with shuffles, and with several elements a thread.
extern __shared__ float partial[];
extern "C" __global__ void reduce_interleaved(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
extern "C" __global__ void reduce_sequential(const float *in, float *out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
template <unsigned THREADS, typename T> __global__ void reduce_unrolled(const T *in, T *out, unsigned n) {
    __shared__ T sums[THREADS / 32];
    T sum = 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += THREADS * gridDim.x) sum += in[i];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < THREADS / 32; w++) sum += sums[w];
        out[blockIdx.x] = sum;
    }
}
template __global__ void reduce_unrolled<128, int>(const int *, int *, unsigned);
template __global__ void reduce_unrolled<128, double>(const double *, double *, unsigned);
