// C = alpha A B + beta C in double precision, by rows, for matrices of any size.
//
// A CTA of 8 x 8 threads computes a tile of 32 x 16; each thread keeps 4 x 2 sums in registers.
// While it works on one slice of 4 columns of A and 4 rows of B, the next slice is on its way to
// registers: those loads stand far before their first use. All loops over registers are unrolled.
// Rows and columns beyond the last are computed from the last and not stored.
#include "../strata_cuda.h"

#define SIDE 8
#define EACH_ROWS 4
#define EACH_COLUMNS 2
#define ROWS (SIDE * EACH_ROWS)
#define COLUMNS (SIDE * EACH_COLUMNS)
#define DEPTH 4

__device__ __forceinline__ int least(int a, int b) { return a < b ? a : b; }

__device__ __forceinline__ void multiply(double (*sum)[EACH_COLUMNS], const double *from_a,
                                         const double *from_b) {
#pragma unroll
    for (int i = 0; i < EACH_ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < EACH_COLUMNS; ++j) {
            sum[i][j] = fma_rn(from_a[i], from_b[j], sum[i][j]);
        }
    }
}

extern "C" __global__ void dgemm(const double *__restrict__ a, const double *__restrict__ b,
                                 double *__restrict__ c, int m, int n, int k, double alpha,
                                 double beta) {
    __shared__ double tile_a[DEPTH][ROWS + 1];
    __shared__ double tile_b[DEPTH][COLUMNS];
    const int thread = TID_X;
    const int tx = thread % SIDE;
    const int ty = thread / SIDE;
    const int first_row = CTAID_Y * ROWS;
    const int first_column = CTAID_X * COLUMNS;

    // What this thread brings: two neighbours of a row of A and an element of B.
    const int a_row = thread / 2;
    const int a_column = thread % 2 * 2;
    const int b_row = thread / 16;
    const int b_column = thread % 16;
    const double *from_a = a + least(first_row + a_row, m - 1) * k + a_column;
    const double *from_b = b + b_row * n + least(first_column + b_column, n - 1);

    double sum[EACH_ROWS][EACH_COLUMNS];
#pragma unroll
    for (int i = 0; i < EACH_ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < EACH_COLUMNS; ++j) {
            sum[i][j] = 0.0;
        }
    }

    int left = k;
    double next_a[2];
    double next_b;
    if (left >= DEPTH) {
        next_a[0] = from_a[0];
        next_a[1] = from_a[1];
        next_b = *from_b;
    }
    while (left >= DEPTH) {
        BARRIER();
        tile_a[a_column][a_row] = next_a[0];
        tile_a[a_column + 1][a_row] = next_a[1];
        tile_b[b_row][b_column] = next_b;
        BARRIER();
        left -= DEPTH;
        from_a += DEPTH;
        from_b += DEPTH * n;
        if (left >= DEPTH) {
            next_a[0] = from_a[0];
            next_a[1] = from_a[1];
            next_b = *from_b;
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            double of_a[EACH_ROWS];
            double of_b[EACH_COLUMNS];
#pragma unroll
            for (int i = 0; i < EACH_ROWS; ++i) {
                of_a[i] = tile_a[d][ty + i * SIDE];
            }
#pragma unroll
            for (int j = 0; j < EACH_COLUMNS; ++j) {
                of_b[j] = tile_b[d][tx + j * SIDE];
            }
            multiply(sum, of_a, of_b);
        }
    }

    // The last columns of A, fewer than a slice.
    for (int deep = k - left; deep < k; ++deep) {
        double of_a[EACH_ROWS];
        double of_b[EACH_COLUMNS];
#pragma unroll
        for (int i = 0; i < EACH_ROWS; ++i) {
            of_a[i] = a[least(first_row + ty + i * SIDE, m - 1) * k + deep];
        }
#pragma unroll
        for (int j = 0; j < EACH_COLUMNS; ++j) {
            of_b[j] = b[deep * n + least(first_column + tx + j * SIDE, n - 1)];
        }
        multiply(sum, of_a, of_b);
    }

#pragma unroll
    for (int i = 0; i < EACH_ROWS; ++i) {
        const int row = first_row + ty + i * SIDE;
#pragma unroll
        for (int j = 0; j < EACH_COLUMNS; ++j) {
            const int column = first_column + tx + j * SIDE;
            if (row < m && column < n) {
                double *const at = &c[row * n + column];
                *at = fma_rn(alpha, sum[i][j], mul_rn(beta, *at));
            }
        }
    }
}
