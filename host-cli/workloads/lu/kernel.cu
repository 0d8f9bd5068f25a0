// Factors of a matrix, lower times upper, without pivoting, by tiles and in place.
//
// Each step factors the tile on the diagonal, then solves for the tiles beside and below it, then
// subtracts their products from the tiles that are left: one launch for each. A CTA that solves has
// one warp and three tiles in shared memory, 96 bytes for each thread.
#include "../strata_cuda.h"

#define TILE 16

// Adds a constant to the diagonal, so that it dominates and no rows have to change places.
extern "C" __global__ void lu_shift(float *__restrict__ matrix, int n, float shift) {
    const int at = CTAID_X * NTID_X + TID_X;
    if (at < n) {
        matrix[at * n + at] += shift;
    }
}

// The tile on the diagonal, by one thread for each row and column.
extern "C" __global__ void lu_diagonal(float *__restrict__ matrix, int n, int step) {
    __shared__ float corner[TILE][TILE];
    const int thread = TID_X;
    float *__restrict__ first = matrix + step * TILE * n + step * TILE;
    for (int y = 0; y < TILE; ++y) {
        corner[y][thread] = first[y * n + thread];
    }
    BARRIER();
#pragma unroll 1
    for (int pivot = 0; pivot < TILE - 1; ++pivot) {
        if (thread > pivot) {
            corner[thread][pivot] /= corner[pivot][pivot];
        }
        BARRIER();
        if (thread > pivot) {
#pragma unroll 1
            for (int y = pivot + 1; y < TILE; ++y) {
                corner[y][thread] -= corner[y][pivot] * corner[pivot][thread];
            }
        }
        BARRIER();
    }
    for (int y = 0; y < TILE; ++y) {
        first[y * n + thread] = corner[y][thread];
    }
}

// A tile beside the diagonal and its mirror image below: one half of the warp solves for the columns
// of the one, the other half for the rows of the other.
extern "C" __global__ void lu_border(float *__restrict__ matrix, int n, int step) {
    __shared__ float corner[TILE][TILE];
    __shared__ float beside[TILE][TILE];
    __shared__ float below[TILE][TILE];
    const int lane = TID_X % TILE;
    const int half = TID_X / TILE;
    const int distance = (CTAID_X + 1) * TILE;
    float *__restrict__ first = matrix + step * TILE * n + step * TILE;
    float *__restrict__ right = first + distance;
    float *__restrict__ under = first + distance * n;
    for (int y = half; y < TILE; y += 2) {
        corner[y][lane] = first[y * n + lane];
        beside[y][lane] = right[y * n + lane];
        below[y][lane] = under[y * n + lane];
    }
    BARRIER();
    if (half == 0) {
#pragma unroll 1
        for (int y = 1; y < TILE; ++y) {
            float sum = beside[y][lane];
            for (int k = 0; k < y; ++k) {
                sum -= corner[y][k] * beside[k][lane];
            }
            beside[y][lane] = sum;
        }
    } else {
#pragma unroll 1
        for (int x = 0; x < TILE; ++x) {
            float sum = below[lane][x];
            for (int k = 0; k < x; ++k) {
                sum -= below[lane][k] * corner[k][x];
            }
            below[lane][x] = sum / corner[x][x];
        }
    }
    BARRIER();
    for (int y = half; y < TILE; y += 2) {
        right[y * n + lane] = beside[y][lane];
        under[y * n + lane] = below[y][lane];
    }
}

// What is left, minus the product of the tiles below and beside the diagonal; one thread for each
// element.
extern "C" __global__ void lu_inner(float *__restrict__ matrix, int n, int step) {
    __shared__ float beside[TILE][TILE];
    __shared__ float below[TILE][TILE];
    const int x = TID_X;
    const int y = TID_Y;
    const int diagonal = step * TILE;
    const int column = diagonal + (CTAID_X + 1) * TILE + x;
    const int row = diagonal + (CTAID_Y + 1) * TILE + y;
    beside[y][x] = matrix[(diagonal + y) * n + column];
    below[y][x] = matrix[row * n + diagonal + x];
    BARRIER();
    float sum = 0.0f;
    for (int k = 0; k < TILE; ++k) {
        sum += below[y][k] * beside[k][x];
    }
    matrix[row * n + column] -= sum;
}
