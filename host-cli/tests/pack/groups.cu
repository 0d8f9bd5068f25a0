// Cooperative groups: blocks, tiles, coalesced lanes, reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int v = in[block.thread_rank()];
    for (int k = tile.size() / 2; k > 0; k /= 2) v += tile.shfl_down(v, k);
    block.sync();
    if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v;
}
extern "C" __global__ void coalesced(const int *in, int *out, int *count) {
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (v & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(count, active.size());
        out[active.shfl(base, 0) + active.thread_rank()] = v;
    }
}
extern "C" __global__ void reduced(const float *in, float *out, unsigned *bits) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float v = in[threadIdx.x];
    float sum = cg::reduce(warp, v, cg::plus<float>());
    int most = cg::reduce(warp, (int)threadIdx.x, cg::greater<int>());
    int before = cg::exclusive_scan(warp, (int)threadIdx.x);
    unsigned odd = warp.ballot(threadIdx.x & 1);
    out[threadIdx.x] = sum + most + before;
    bits[threadIdx.x] = odd + warp.any(v > 0.5f) + warp.all(v >= 0);
}
