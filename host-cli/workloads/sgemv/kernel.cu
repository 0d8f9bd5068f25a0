// Matrix times vector in single precision: y = alpha * A * x + beta * y, column after column.
//
// One thread has a row. A CTA takes the vector through shared memory, as many elements at a time as
// it has threads: 4 bytes for each.
#include "../strata_cuda.h"

#define THREADS 128

extern "C" __global__ void sgemv(const float *__restrict__ matrix, const float *__restrict__ x,
                                 float *__restrict__ y, int rows, int columns, float alpha,
                                 float beta) {
    __shared__ float slice[THREADS];
    const int row = CTAID_X * THREADS + TID_X;
    float sum = 0.0f;
    for (int first = 0; first < columns; first += THREADS) {
        if (first + TID_X < columns) {
            slice[TID_X] = x[first + TID_X];
        }
        BARRIER();
        if (row < rows) {
            const int left = columns - first;
            const int count = left < THREADS ? left : THREADS;
            for (int k = 0; k < count; ++k) {
                sum += matrix[(first + k) * rows + row] * slice[k];
            }
        }
        BARRIER();
    }
    if (row < rows) {
        y[row] = alpha * sum + beta * y[row];
    }
}
