// wmma on halves: every shape and layout, both accumulators.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half *a, const half *b, float *c, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
template <int M, int N, typename LA, typename LB> __device__ void scaled(const half *a, const half *b, half *c) {
    wmma::fragment<wmma::matrix_a, M, N, 16, half, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, half, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, half> sum;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::load_matrix_sync(sum, c, 32, wmma::mem_col_major);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * __float2half(0.5f);
    wmma::store_matrix_sync(c, sum, 32, wmma::mem_col_major);
}
extern "C" __global__ void shapes(const half *a, const half *b, half *c) {
    scaled<16, 16, wmma::col_major, wmma::row_major>(a, b, c);
    scaled<32, 8, wmma::row_major, wmma::row_major>(a, b, c + 1024);
    scaled<8, 32, wmma::col_major, wmma::col_major>(a, b, c + 2048);
}
extern "C" __global__ void from_shared(const half *a, const half *b, float *c) {
    __shared__ half sa[16 * 24], sb[16 * 24];
    __shared__ float sc[16 * 20];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        sa[i / 16 * 24 + i % 16] = a[i];
        sb[i / 16 * 24 + i % 16] = b[i];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(fa, sa, 24);
    wmma::load_matrix_sync(fb, sb, 24);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(sc, sum, 20, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) c[i] = sc[i / 16 * 20 + i % 16];
}
