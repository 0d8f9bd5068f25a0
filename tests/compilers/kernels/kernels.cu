// Compiled by nvcc and by clang, which has no headers of CUDA here: see strata_cuda.h.
#include "../../../host-cli/workloads/strata_cuda.h"

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = CTAID_X * NTID_X + TID_X;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// The sum of each block's 128 elements.
extern "C" __global__ void reduce(int n, const float *x, float *sums)
{
    __shared__ float part[128];
    int i = CTAID_X * 128 + TID_X;
    part[TID_X] = i < n ? x[i] : 0.0f;
    BARRIER();
    for (int half = 64; half > 0; half /= 2) {
        if (TID_X < half)
            part[TID_X] += part[TID_X + half];
        BARRIER();
    }
    if (TID_X == 0)
        sums[CTAID_X] = part[0];
}

// How many values there are of each remainder by 16.
extern "C" __global__ void histogram(int n, const unsigned *values, unsigned *bins)
{
    int i = CTAID_X * NTID_X + TID_X;
    if (i < n)
        atomic_add(&bins[values[i] % 16], 1);
}

// c = a * b, square, side a multiple of 16.
extern "C" __global__ void matmul(int side, const float *a, const float *b, float *c)
{
    __shared__ float left[16][16], right[16][16];
    int row = CTAID_Y * 16 + TID_Y, column = CTAID_X * 16 + TID_X;
    float sum = 0.0f;
    for (int k = 0; k < side; k += 16) {
        left[TID_Y][TID_X] = a[row * side + k + TID_X];
        right[TID_Y][TID_X] = b[(k + TID_Y) * side + column];
        BARRIER();
        for (int j = 0; j < 16; ++j)
            sum += left[TID_Y][j] * right[j][TID_X];
        BARRIER();
    }
    c[row * side + column] = sum;
}
