// One explicit time step of heat conduction on a chip: every cell exchanges heat with its four
// neighbours and the heat sink and receives the power dissipated in it.
//
// A CTA updates a tile whose cells and one ring of neighbours lie in shared memory; beyond the edge
// of the chip a cell's own temperature stands for the missing neighbour (no flow). The tile is not
// a multiple of a warp.
#include "../strata_cuda.h"

#define TILE_X 24
#define TILE_Y 10
#define PITCH (TILE_X + 2)

__device__ __forceinline__ int clamp(int value, int last) {
    return value < 0 ? 0 : (value > last ? last : value);
}

extern "C" __global__ void hotspot(const float *__restrict__ temperature,
                                   const float *__restrict__ power, float *__restrict__ next,
                                   int columns, int rows, float across, float along, float sink,
                                   float ambient, float scale) {
    __shared__ float tile[(TILE_Y + 2) * PITCH];

    const int left = CTAID_X * TILE_X - 1;
    const int top = CTAID_Y * TILE_Y - 1;
    for (int at = TID_Y * TILE_X + TID_X; at < (TILE_Y + 2) * PITCH; at += TILE_X * TILE_Y) {
        const int x = clamp(left + at % PITCH, columns - 1);
        const int y = clamp(top + at / PITCH, rows - 1);
        tile[at] = temperature[y * columns + x];
    }
    BARRIER();

    const int x = CTAID_X * TILE_X + TID_X;
    const int y = CTAID_Y * TILE_Y + TID_Y;
    if (x >= columns || y >= rows) {
        return;
    }
    const int at = (TID_Y + 1) * PITCH + TID_X + 1;
    const float centre = tile[at];
    const float twice = centre + centre;
    const float flow_x = (tile[at - 1] + tile[at + 1] - twice) * across;
    const float flow_y = (tile[at - PITCH] + tile[at + PITCH] - twice) * along;
    const float flow_z = (ambient - centre) * sink;
    const int cell = y * columns + x;
    next[cell] = centre + scale * (power[cell] + flow_x + flow_y + flow_z);
}
