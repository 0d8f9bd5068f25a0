// Global alignment of two sequences (Needleman and Wunsch): scores of all prefixes with a linear
// gap penalty, from a matrix of similarities. A `kernel.cu` defines TILE and includes this.
//
// The (n + 1) x (n + 1) score matrix is filled by square tiles along anti-diagonals, one launch for
// each; within a tile the anti-diagonals of cells are a wavefront in shared memory, one thread for
// each of the TILE columns. A CTA has 4 * ((TILE + 1)^2 + TILE^2) bytes of shared memory.

#ifndef STRATA_NEEDLE_H
#define STRATA_NEEDLE_H

#include "strata_cuda.h"

__device__ __forceinline__ int larger(int a, int b) { return a > b ? a : b; }

// Scores of empty prefixes: only gaps.
extern "C" __global__ void needle_borders(int *__restrict__ scores, int n, int penalty) {
    const int at = CTAID_X * NTID_X + TID_X;
    if (at <= n) {
        scores[at] = -at * penalty;
        scores[at * (n + 1)] = -at * penalty;
    }
}

// The tiles of one anti-diagonal; `first_column` is the tile column of CTA 0.
extern "C" __global__ void needle_tiles(int *__restrict__ scores,
                                        const int *__restrict__ similarity, int n, int penalty,
                                        int diagonal, int first_column) {
    __shared__ int score[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];

    const int thread = TID_X;
    const int tile_column = first_column + CTAID_X;
    const int column = tile_column * TILE;
    const int row = (diagonal - tile_column) * TILE;
    const int pitch = n + 1;

    for (int y = 0; y < TILE; ++y) {
        match[y][thread] = similarity[(row + y) * n + column + thread];
    }
    score[0][thread + 1] = scores[row * pitch + column + thread + 1];
    score[thread + 1][0] = scores[(row + thread + 1) * pitch + column];
    if (thread == 0) {
        score[0][0] = scores[row * pitch + column];
    }
    BARRIER();

    for (int wave = 0; wave < 2 * TILE - 1; ++wave) {
        const int y = wave - thread;
        if (y >= 0 && y < TILE) {
            const int diagonal_score = score[y][thread] + match[y][thread];
            const int above = score[y][thread + 1] - penalty;
            const int beside = score[y + 1][thread] - penalty;
            score[y + 1][thread + 1] = larger(diagonal_score, larger(above, beside));
        }
        BARRIER();
    }

    for (int y = 0; y < TILE; ++y) {
        scores[(row + y + 1) * pitch + column + thread + 1] = score[y + 1][thread + 1];
    }
}

#endif
