// Lattice Boltzmann fluid, one time step: 19 directions in three dimensions (D3Q19), each cell pulls
// what streams to it from its neighbours, and collides (one relaxation time). Solid cells send back
// what comes (bounce back).
//
// One field for each direction; a layer of cells around the domain is read and never written. A
// CTA has 128 threads along x, of one row.
#include "../strata_cuda.h"

#define THREADS 128

// The parts of the distribution, in the order of the fields: rest, then pairs of opposite directions.
#define AXIS (1.0f / 18.0f)
#define DIAGONAL (1.0f / 36.0f)

__device__ __forceinline__ float relaxed(float found, float weight, float density, float along,
                                         float rest, float keep, float omega) {
    return keep * found + omega * weight * density * (rest + along * (3.0f + 4.5f * along));
}

// Which cells are solid: one in ten, by chance.
extern "C" __global__ void lbm_solids(const u8 *__restrict__ chance, u8 *__restrict__ solid,
                                      int cells) {
    const int cell = CTAID_X * THREADS + TID_X;
    if (cell < cells) {
        solid[cell] = chance[cell] == 0;
    }
}

extern "C" __global__ void lbm(const float *__restrict__ from, float *__restrict__ to,
                               const u8 *__restrict__ solid, int columns, int rows, int slabs,
                               float omega) {
    const int x = CTAID_X * THREADS + TID_X;
    if (x >= columns) {
        return;
    }
    const int row = columns + 2;
    const int slab = row * (rows + 2);
    const int field = slab * (slabs + 2);
    const int y = CTAID_Y % rows;
    const int z = CTAID_Y / rows;
    const int cell = (z + 1) * slab + (y + 1) * row + x + 1;

    const float rest = from[cell];
    const float east = from[1 * field + cell - 1];
    const float west = from[2 * field + cell + 1];
    const float north = from[3 * field + cell - row];
    const float south = from[4 * field + cell + row];
    const float top = from[5 * field + cell - slab];
    const float bottom = from[6 * field + cell + slab];
    const float ne = from[7 * field + cell - 1 - row];
    const float sw = from[8 * field + cell + 1 + row];
    const float se = from[9 * field + cell - 1 + row];
    const float nw = from[10 * field + cell + 1 - row];
    const float et = from[11 * field + cell - 1 - slab];
    const float wb = from[12 * field + cell + 1 + slab];
    const float eb = from[13 * field + cell - 1 + slab];
    const float wt = from[14 * field + cell + 1 - slab];
    const float nt = from[15 * field + cell - row - slab];
    const float sb = from[16 * field + cell + row + slab];
    const float nb = from[17 * field + cell - row + slab];
    const float st = from[18 * field + cell + row - slab];

    if (solid[cell]) {
        to[cell] = rest;
        to[1 * field + cell] = west;
        to[2 * field + cell] = east;
        to[3 * field + cell] = south;
        to[4 * field + cell] = north;
        to[5 * field + cell] = bottom;
        to[6 * field + cell] = top;
        to[7 * field + cell] = sw;
        to[8 * field + cell] = ne;
        to[9 * field + cell] = nw;
        to[10 * field + cell] = se;
        to[11 * field + cell] = wb;
        to[12 * field + cell] = et;
        to[13 * field + cell] = wt;
        to[14 * field + cell] = eb;
        to[15 * field + cell] = sb;
        to[16 * field + cell] = nt;
        to[17 * field + cell] = st;
        to[18 * field + cell] = nb;
        return;
    }

    const float density = rest + east + west + north + south + top + bottom + ne + sw + se + nw + et +
                          wb + eb + wt + nt + sb + nb + st;
    const float inverse = 1.0f / density;
    const float u = inverse * (east - west + ne - sw + se - nw + et - wb + eb - wt);
    const float v = inverse * (north - south + ne - sw + nw - se + nt - sb + nb - st);
    const float w = inverse * (top - bottom + et - wb + wt - eb + nt - sb + st - nb);
    const float still = 1.0f - 1.5f * (u * u + v * v + w * w);
    const float keep = 1.0f - omega;

    to[cell] = keep * rest + omega * (1.0f / 3.0f) * density * still;
    to[1 * field + cell] = relaxed(east, AXIS, density, u, still, keep, omega);
    to[2 * field + cell] = relaxed(west, AXIS, density, -u, still, keep, omega);
    to[3 * field + cell] = relaxed(north, AXIS, density, v, still, keep, omega);
    to[4 * field + cell] = relaxed(south, AXIS, density, -v, still, keep, omega);
    to[5 * field + cell] = relaxed(top, AXIS, density, w, still, keep, omega);
    to[6 * field + cell] = relaxed(bottom, AXIS, density, -w, still, keep, omega);
    to[7 * field + cell] = relaxed(ne, DIAGONAL, density, u + v, still, keep, omega);
    to[8 * field + cell] = relaxed(sw, DIAGONAL, density, -u - v, still, keep, omega);
    to[9 * field + cell] = relaxed(se, DIAGONAL, density, u - v, still, keep, omega);
    to[10 * field + cell] = relaxed(nw, DIAGONAL, density, v - u, still, keep, omega);
    to[11 * field + cell] = relaxed(et, DIAGONAL, density, u + w, still, keep, omega);
    to[12 * field + cell] = relaxed(wb, DIAGONAL, density, -u - w, still, keep, omega);
    to[13 * field + cell] = relaxed(eb, DIAGONAL, density, u - w, still, keep, omega);
    to[14 * field + cell] = relaxed(wt, DIAGONAL, density, w - u, still, keep, omega);
    to[15 * field + cell] = relaxed(nt, DIAGONAL, density, v + w, still, keep, omega);
    to[16 * field + cell] = relaxed(sb, DIAGONAL, density, -v - w, still, keep, omega);
    to[17 * field + cell] = relaxed(nb, DIAGONAL, density, v - w, still, keep, omega);
    to[18 * field + cell] = relaxed(st, DIAGONAL, density, w - v, still, keep, omega);
}
