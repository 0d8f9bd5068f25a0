// The electrostatic potential of point charges on a plane of grid points: every atom adds its
// charge over its distance.
//
// Atoms are (x, y, z, charge). A thread computes eight points of a row, so that what depends on the
// row alone is computed once for all of them; atoms are staged in shared memory.
#include "../strata_cuda.h"

#define THREADS 64
#define WIDTH 16
#define POINTS 8

extern "C" __global__ void cp(const Float4 *__restrict__ atoms, float *__restrict__ potential,
                              int count, int columns, int rows, float spacing, float height) {
    __shared__ Float4 tile[THREADS];
    const int thread = TID_X;
    const int column = CTAID_X * (WIDTH * POINTS) + thread % WIDTH;
    const int row = CTAID_Y * (THREADS / WIDTH) + thread / WIDTH;
    const float x = spacing * (float)column;
    const float y = spacing * (float)row;
    const float step = spacing * (float)WIDTH;
    float energy[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; ++p) {
        energy[p] = 0.0f;
    }

    for (int start = 0; start < count; start += THREADS) {
        BARRIER();
        if (start + thread < count) {
            tile[thread] = atoms[start + thread];
        }
        BARRIER();
        const int here = count - start < THREADS ? count - start : THREADS;
        for (int k = 0; k < here; ++k) {
            const Float4 atom = tile[k];
            const float dy = y - atom.y;
            const float dz = height - atom.z;
            const float across = dy * dy + dz * dz;
            float dx = x - atom.x;
#pragma unroll
            for (int p = 0; p < POINTS; ++p) {
                energy[p] += atom.w * reciprocal_sqrt(dx * dx + across);
                dx += step;
            }
        }
    }

    if (row < rows) {
#pragma unroll
        for (int p = 0; p < POINTS; ++p) {
            if (column + p * WIDTH < columns) {
                potential[row * columns + column + p * WIDTH] += energy[p];
            }
        }
    }
}
