// A tile of a product as matrix libraries write it: ldmatrix, mma.sync, cp.async in two stages, a swizzle.
#include <cuda_fp16.h>
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void fetch(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address(to)), "l"(from));
}
extern "C" __global__ void __launch_bounds__(32) tile(const half *a, const half *b, float *c, int k) {
    __shared__ __align__(128) half as[2][16 * 16], bs[2][8 * 16];
    int lane = threadIdx.x;
    float d[4] = {};
    fetch(&as[0][lane * 8], a + lane / 2 * k + lane % 2 * 8);
    if (lane < 16) fetch(&bs[0][lane * 8], b + lane / 2 * k + lane % 2 * 8);
    asm volatile("cp.async.commit_group;");
    for (int i = 0, stage = 0; i < k; i += 16, stage ^= 1) {
        if (i + 16 < k) {
            fetch(&as[stage ^ 1][lane * 8], a + lane / 2 * k + lane % 2 * 8 + i + 16);
            if (lane < 16) fetch(&bs[stage ^ 1][lane * 8], b + lane / 2 * k + lane % 2 * 8 + i + 16);
        }
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncwarp();
        unsigned fa[4], fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(address(&as[stage][(lane % 16) * 16 + lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(address(&bs[stage][(lane % 8) * 16 + lane / 8 % 2 * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
        __syncwarp();
    }
    asm volatile("cp.async.wait_all;");
    int row = lane / 4, column = lane % 4 * 2;
    *(float2 *)&c[row * 8 + column] = make_float2(d[0], d[1]);
    *(float2 *)&c[(row + 8) * 8 + column] = make_float2(d[2], d[3]);
}
extern "C" __global__ void transposed(const half *in, unsigned *out) {
    __shared__ __align__(16) half tile[8 * 8];
    if (threadIdx.x < 8) ((uint4 *)tile)[threadIdx.x] = ((const uint4 *)in)[threadIdx.x];
    __syncthreads();
    unsigned v, w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(address(&tile[threadIdx.x % 8 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(w) : "r"(address(&tile[threadIdx.x % 8 * 8])));
    out[threadIdx.x] = v ^ w;
}
