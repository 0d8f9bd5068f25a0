// A quasirandom sequence in natural order (Niederreiter): in each of three dimensions, point n is the
// exclusive or of the direction numbers of the bits of n. The numbers of a dimension stay in registers.
#include "../strata_cuda.h"

#define THREADS 128
#define BITS 24

extern "C" __global__ void quasirandom(const u32 *__restrict__ directions,
                                       float *__restrict__ points, int count) {
    const int dimension = TID_Y;
    u32 direction[BITS];
#pragma unroll
    for (int bit = 0; bit < BITS; ++bit) {
        direction[bit] = directions[dimension * BITS + bit];
    }
    float *__restrict__ own = points + dimension * count;
#pragma unroll 1
    for (int at = CTAID_X * THREADS + TID_X; at < count; at += NCTAID_X * THREADS) {
        u32 point = 0;
#pragma unroll
        for (int bit = 0; bit < BITS; ++bit) {
            if ((at >> bit) & 1) {
                point ^= direction[bit];
            }
        }
        own[at] = (float)(point >> 8) * (1.0f / 16777216.0f);
    }
}
