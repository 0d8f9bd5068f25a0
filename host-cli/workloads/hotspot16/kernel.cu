// Heat conduction on a chip like `hotspot`, two time steps in one launch: a CTA of 16 x 16 threads
// keeps the temperature before and after a step and the power of its cells in shared memory, of which
// the outermost two rings are read only for their neighbours' sake.
#include "../strata_cuda.h"

#define SIDE 16
#define STEPS 2
#define CORE (SIDE - 2 * STEPS)

__device__ __forceinline__ int clamp(int value, int last) {
    return value < 0 ? 0 : (value > last ? last : value);
}

extern "C" __global__ void hotspot16(const float *__restrict__ temperature,
                                     const float *__restrict__ power, float *__restrict__ next,
                                     int columns, int rows, float across, float along, float sink,
                                     float ambient, float scale) {
    __shared__ float before[SIDE][SIDE];
    __shared__ float heat[SIDE][SIDE];
    __shared__ float after[SIDE][SIDE];

    const int left = CTAID_X * CORE - STEPS;
    const int top = CTAID_Y * CORE - STEPS;
    const int tx = TID_X;
    const int ty = TID_Y;
    const int x = left + tx;
    const int y = top + ty;
    const int cell = clamp(y, rows - 1) * columns + clamp(x, columns - 1);
    before[ty][tx] = temperature[cell];
    heat[ty][tx] = power[cell];
    BARRIER();

    // Neighbours within the chip: beyond its edge the cell itself stands for them.
    const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
    const int west = x > 0 ? tx - 1 : tx;
    const int east = x < columns - 1 ? tx + 1 : tx;
    const int north = y > 0 ? ty - 1 : ty;
    const int south = y < rows - 1 ? ty + 1 : ty;
    bool done = false;
    for (int step = 1; step <= STEPS; ++step) {
        done = inside && tx >= step && tx < SIDE - step && ty >= step && ty < SIDE - step;
        if (done) {
            const float centre = before[ty][tx];
            const float twice = centre + centre;
            const float flow_x = (before[ty][west] + before[ty][east] - twice) * across;
            const float flow_y = (before[north][tx] + before[south][tx] - twice) * along;
            const float flow_z = (ambient - centre) * sink;
            after[ty][tx] = centre + scale * (heat[ty][tx] + flow_x + flow_y + flow_z);
        }
        BARRIER();
        if (step == STEPS) {
            break;
        }
        if (done) {
            before[ty][tx] = after[ty][tx];
        }
        BARRIER();
    }
    if (done) {
        next[cell] = after[ty][tx];
    }
}
