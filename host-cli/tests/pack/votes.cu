// Votes, matches, masks of lanes, barriers that count.
extern "C" __global__ void votes(const int *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    unsigned b = __ballot_sync(~0u, v > n / 2), any = __any_sync(~0u, v == n), all = __all_sync(~0u, v >= 0), same = 0;
    if (v & 1) same = __ballot_sync(__activemask(), v & 2);
    __syncwarp();
    out[i] = b + any + all + same;
}
extern "C" __global__ void matches(const unsigned long long *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, everyone;
    unsigned m = __match_any_sync(~0u, in[i] & 7), k = __match_all_sync(~0u, (unsigned)(in[i] >> 63), &everyone);
    out[i] = m + k + everyone;
}
extern "C" __global__ void counting_barriers(const int *in, int *out) {
    int p = in[threadIdx.x] & 1;
    int count = __syncthreads_count(p), both = __syncthreads_and(p), either = __syncthreads_or(p);
    out[threadIdx.x] = count + both * 1000 + either * 2000;
}
extern "C" __global__ void named_barriers(int *out) {
    __shared__ int box[64];
    if (threadIdx.x < 64) {
        box[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;");
        out[threadIdx.x] = box[63 - threadIdx.x];
    } else if (threadIdx.x < 128) {
        asm volatile("barrier.sync 2, 64;");
        out[threadIdx.x] = 1;
    }
    unsigned lt, le, gt, ge, eq;
    asm("mov.u32 %0, %%lanemask_lt; mov.u32 %1, %%lanemask_le; mov.u32 %2, %%lanemask_gt;" : "=r"(lt), "=r"(le), "=r"(gt));
    asm("mov.u32 %0, %%lanemask_ge; mov.u32 %1, %%lanemask_eq;" : "=r"(ge), "=r"(eq));
    out[threadIdx.x] += (lt | eq) == le && (gt | eq) == ge;
}
