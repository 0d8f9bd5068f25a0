// C = A B in single precision, all matrices by columns, of any size.
//
// A CTA of 64 threads computes 64 rows of 8 columns: a thread has a row and keeps 8 sums in
// registers. A slice of 8 rows of B is in shared memory, and of A each thread has its 8 elements in
// registers. The loads of the next slice are hoisted above the work on this one, which is unrolled
// completely. Rows and columns beyond the last are computed from the last and not stored.
#include "../strata_cuda.h"

#define ROWS 64
#define COLUMNS 8
#define DEPTH 8

__device__ __forceinline__ void load(float *elements, const float *from, int m) {
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
        elements[d] = from[d * m];
    }
}

extern "C" __global__ void sgemm(const float *__restrict__ a, const float *__restrict__ b,
                                 float *__restrict__ c, int m, int n, int k) {
    __shared__ float tile[DEPTH][COLUMNS + 1];
    const int thread = TID_X;
    const int row = CTAID_X * ROWS + thread;
    const int first_column = CTAID_Y * COLUMNS;
    const float *from_a = a + (row < m ? row : m - 1);

    // What this thread brings of B.
    const int b_row = thread % DEPTH;
    const int b_column = thread / DEPTH;
    const int column = first_column + b_column;
    const float *from_b = b + (column < n ? column : n - 1) * k + b_row;

    float sum[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        sum[j] = 0.0f;
    }

    int left = k;
    float next_a[DEPTH];
    float next_b;
    if (left >= DEPTH) {
        load(next_a, from_a, m);
        next_b = *from_b;
        from_a += DEPTH * m;
        from_b += DEPTH;
    }
    while (left >= DEPTH) {
        float of_a[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            of_a[d] = next_a[d];
        }
        BARRIER();
        tile[b_row][b_column] = next_b;
        BARRIER();
        left -= DEPTH;
        if (left >= DEPTH) {
            load(next_a, from_a, m);
            next_b = *from_b;
            from_a += DEPTH * m;
            from_b += DEPTH;
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                sum[j] = fma_rn(of_a[d], tile[d][j], sum[j]);
            }
        }
    }

    // The last rows of B, fewer than a slice.
    for (; left > 0; --left) {
        const float of_a = *from_a;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const int at = first_column + j;
            sum[j] = fma_rn(of_a, b[(at < n ? at : n - 1) * k + k - left], sum[j]);
        }
        from_a += m;
    }

    if (row < m) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            if (first_column + j < n) {
                c[(first_column + j) * m + row] = sum[j];
            }
        }
    }
}
