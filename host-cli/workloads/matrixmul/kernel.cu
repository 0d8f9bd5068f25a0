// c = a * b for square row-major matrices of any order n.
//
// A CTA of 32 x 8 threads makes one 32 x 32 tile of c from 32 x 32 tiles of a and b in shared
// memory; a thread keeps four results of one column, eight rows apart, in registers. Elements
// outside the matrices are taken as zero.
#include "../strata_cuda.h"

#define TILE 32
#define ROWS 8
#define RESULTS (TILE / ROWS)

extern "C" __global__ void matrixmul(const float *__restrict__ a, const float *__restrict__ b,
                                     float *__restrict__ c, int n) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    const int tx = TID_X;
    const int ty = TID_Y;
    const int column = CTAID_X * TILE + tx;
    const int row = CTAID_Y * TILE + ty;

    float sum[RESULTS];
#pragma unroll
    for (int r = 0; r < RESULTS; ++r) {
        sum[r] = 0.0f;
    }

    for (int start = 0; start < n; start += TILE) {
#pragma unroll
        for (int r = 0; r < RESULTS; ++r) {
            const int a_row = row + r * ROWS;
            const int a_column = start + tx;
            const int b_row = start + ty + r * ROWS;
            a_tile[ty + r * ROWS][tx] =
                (a_row < n && a_column < n) ? a[a_row * n + a_column] : 0.0f;
            b_tile[ty + r * ROWS][tx] =
                (b_row < n && column < n) ? b[b_row * n + column] : 0.0f;
        }
        BARRIER();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) {
            const float b_value = b_tile[k][tx];
#pragma unroll
            for (int r = 0; r < RESULTS; ++r) {
                sum[r] = fma_rn(a_tile[ty + r * ROWS][k], b_value, sum[r]);
            }
        }
        BARRIER();
    }

#pragma unroll
    for (int r = 0; r < RESULTS; ++r) {
        const int c_row = row + r * ROWS;
        if (c_row < n && column < n) {
            c[c_row * n + column] = sum[r];
        }
    }
}
