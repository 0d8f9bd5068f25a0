// Sorting: odd-even transposition in shared memory, a bitonic step, digits of a radix sort.
extern "C" __global__ void odd_even(int *keys, int n) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = t < n ? keys[t] : 0x7fffffff;
    for (int phase = 0; phase < 128; phase++) {
        __syncthreads();
        int i = 2 * t + (phase & 1);
        if (i + 1 < 128 && tile[i] > tile[i + 1]) {
            int kept = tile[i];
            tile[i] = tile[i + 1];
            tile[i + 1] = kept;
        }
    }
    __syncthreads();
    if (t < n) keys[t] = tile[t];
}
extern "C" __global__ void bitonic_step(float *values, int j, int k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i) {
        float a = values[i], b = values[other];
        if ((a > b) == ((i & k) == 0)) {
            values[i] = b;
            values[other] = a;
        }
    }
}
extern "C" __global__ void radix_digits(const unsigned *keys, unsigned *out, unsigned shift) {
    __shared__ unsigned totals[16][4];
    unsigned i = blockIdx.x * 128 + threadIdx.x, digit = keys[i] >> (shift & 31) & 15, warp = threadIdx.x / 32;
    unsigned below, same = ~0u;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    for (int b = 0; b < 4; b++) {
        unsigned set = __ballot_sync(~0u, digit >> b & 1);
        same &= digit >> b & 1 ? set : ~set;
    }
    if (threadIdx.x < 64) totals[threadIdx.x / 4][threadIdx.x % 4] = 0;
    __syncthreads();
    if ((same & below) == 0) totals[digit][warp] = __popc(same);
    __syncthreads();
    unsigned rank = __popc(same & below);
    for (unsigned w = 0; w < warp; w++) rank += totals[digit][w];
    out[i] = rank;
}
