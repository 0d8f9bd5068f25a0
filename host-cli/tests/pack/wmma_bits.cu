// wmma on single bits.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void bits(const void *a, const void *b, int *c) {
    namespace x = wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, x::precision::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, x::precision::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::bmma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}
