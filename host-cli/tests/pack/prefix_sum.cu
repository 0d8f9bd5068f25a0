// Prefix sums: Hillis and Steele with two buffers, Blelloch's up and down sweep, and of warps.
extern "C" __global__ void scan_two_buffers(float *out, const float *in, int n) {
    __shared__ float buffers[2][128];
    int t = threadIdx.x, now = 0;
    buffers[0][t] = t > 0 && t < n ? in[t - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        now = 1 - now;
        buffers[now][t] = buffers[1 - now][t] + (t >= offset ? buffers[1 - now][t - offset] : 0.0f);
        __syncthreads();
    }
    if (t < n) out[t] = buffers[now][t];
}
extern "C" __global__ void scan_sweeps(int *out, const int *in) {
    __shared__ int tree[256];
    int t = threadIdx.x, offset = 1;
    tree[2 * t] = in[2 * t];
    tree[2 * t + 1] = in[2 * t + 1];
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[2 * blockDim.x - 1] = 0;
    for (int d = 1; d < 2 * blockDim.x; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    out[2 * t] = tree[2 * t];
    out[2 * t + 1] = tree[2 * t + 1];
}
extern "C" __global__ void scan_warps(unsigned *values) {
    unsigned lane = threadIdx.x & 31, value = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset) value += other;
    }
    values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
