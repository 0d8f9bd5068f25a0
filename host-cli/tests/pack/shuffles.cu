// Shuffles of every kind, width and type.
extern "C" __global__ void shuffles(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    int a = __shfl_sync(~0u, v, 5), b = __shfl_up_sync(~0u, v, 3, 16), c = __shfl_down_sync(~0u, v, 2, 8), d = __shfl_xor_sync(~0u, v, 9);
    out[i] = a ^ b * 3 ^ c * 5 ^ d * 7;
}
extern "C" __global__ void wide_shuffles(const double *in, double *out, const long long *lin, long long *lout) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __shfl_xor_sync(~0u, in[i], 1) + __shfl_down_sync(~0u, in[i], 4);
    lout[i] = __shfl_sync(~0u, lin[i], i * 7);
}
extern "C" __global__ void matrix_in_registers(float *values) {
    float v[4];
    int lane = threadIdx.x & 31;
    for (int k = 0; k < 4; k++) v[k] = values[k * blockDim.x + threadIdx.x];
    for (int k = 0; k < 4; k++) v[k] = __shfl_sync(~0u, v[k], (lane + 8 * k) & 31);
    for (int k = 0; k < 4; k++) values[k * blockDim.x + threadIdx.x] = v[(k + lane) & 3];
}
