// wmma on bytes, and on four bits and one bit.
#include <mma.h>
using namespace nvcuda;
template <typename T> __device__ void product(const T *a, const T *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
extern "C" __global__ void signed_bytes(const signed char *a, const signed char *b, int *c) { product(a, b, c); }
extern "C" __global__ void unsigned_bytes(const unsigned char *a, const unsigned char *b, int *c) { product(a, b, c); }
extern "C" __global__ void four_bits(const void *a, const void *b, int *c) {
    namespace x = wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, x::precision::s4, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, x::precision::s4, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}
