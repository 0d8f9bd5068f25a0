// A seven-point stencil in three dimensions. A CTA of 32 x 16 threads takes a tile of 64 x 16 columns
// of cells, two for each thread, and goes through all slabs: the cell below, here and above are in
// registers, the four beside it come through the cache.
#include "../strata_cuda.h"

#define WIDTH 32
#define HEIGHT 16

extern "C" __global__ void stencil(const float *__restrict__ from, float *__restrict__ to,
                                   int columns, int rows, int slabs, float centre, float beside) {
    const int x = CTAID_X * (2 * WIDTH) + TID_X + 1;
    const int y = CTAID_Y * HEIGHT + TID_Y + 1;
    if (x >= columns - 1 || y >= rows - 1) {
        return;
    }
    const bool both = x + WIDTH < columns - 1;
    const u32 row = columns;
    const u32 slab = row * rows;
    u32 at = y * row + x;
    const u32 apart = both ? WIDTH : 0;
    float below_first = from[at];
    float below_second = from[at + apart];
    float first = from[at + slab];
    float second = from[at + slab + apart];
#pragma unroll 1
    for (int z = 1; z < slabs - 1; ++z) {
        at += slab;
        const float above_first = from[at + slab];
        const float above_second = from[at + slab + apart];
        const float around_first =
            from[at - 1] + from[at + 1] + from[at - row] + from[at + row];
        const float around_second = from[at + apart - 1] + from[at + apart + 1] +
                                    from[at + apart - row] + from[at + apart + row];
        to[at] = centre * first + beside * (around_first + below_first + above_first);
        if (both) {
            to[at + apart] = centre * second + beside * (around_second + below_second + above_second);
        }
        below_first = first;
        below_second = second;
        first = above_first;
        second = above_second;
    }
}
