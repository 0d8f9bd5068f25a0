// Histograms: of bytes in shared memory, of a warp each, and with atomics in global memory.
extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
extern "C" __global__ void histogram_packed(const uint4 *in, unsigned *bins) {
    __shared__ unsigned char counters[128][64];
    for (int b = 0; b < 64; b++) counters[threadIdx.x][b] = 0;
    uint4 four = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        counters[threadIdx.x][words[w] >> 2 & 63]++;
        counters[threadIdx.x][words[w] >> 10 & 63]++;
        counters[threadIdx.x][words[w] >> 18 & 63]++;
        counters[threadIdx.x][words[w] >> 26]++;
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int t = 0; t < blockDim.x; t++) sum += counters[t][threadIdx.x];
        atomicAdd(bins + threadIdx.x, sum);
    }
}
extern "C" __global__ void histogram_matched(const unsigned *in, unsigned *bins, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned bin = in[i < n ? i : n - 1] & 15;
    unsigned peers = __match_any_sync(__activemask(), bin);
    if (__ffs(peers) - 1 == (threadIdx.x & 31)) atomicAdd(&bins[bin], __popc(peers));
}
