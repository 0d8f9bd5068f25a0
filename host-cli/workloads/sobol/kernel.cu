// A quasirandom sequence in Gray code order (Sobol; Antonov and Saleev): in each dimension, point n is
// the exclusive or of the direction numbers of the bits of n's Gray code.
//
// A dimension has CTAS CTAs, which keep its direction numbers in shared memory: 128 bytes for 64
// threads. From one of its points to the next a thread goes STRIDE points on, which changes two bits
// of the Gray code.
#include "../strata_cuda.h"

#define THREADS 64
#define CTAS 16
#define STRIDE_BITS 10
#define STRIDE (THREADS * CTAS)
#define BITS 32

extern "C" __global__ void sobol(const u32 *__restrict__ words, float *__restrict__ points,
                                 int count) {
    __shared__ u32 directions[BITS];
    const int dimension = CTAID_Y;
    if (TID_X < BITS) {
        // An odd number of TID_X + 1 bits, as binary places.
        directions[TID_X] = (words[dimension * BITS + TID_X] | 1u) << (BITS - 1 - TID_X);
    }
    BARRIER();

    int at = CTAID_X * THREADS + TID_X;
    const u32 gray = at ^ (at >> 1);
    u32 point = 0;
    for (int bit = 0; bit < STRIDE_BITS; ++bit) {
        if ((gray >> bit) & 1u) {
            point ^= directions[bit];
        }
    }
    float *__restrict__ own = points + dimension * count;
    for (; at < count; at += STRIDE) {
        own[at] = (float)point * (1.0f / 4294967296.0f);
        // The bits that counting up inverts: the lowest zero and the ones below it.
        const u32 round = (u32)at >> STRIDE_BITS;
        const int inverted = bit_count(round ^ (round + 1u));
        point ^= directions[STRIDE_BITS - 1] ^ directions[STRIDE_BITS - 1 + inverted];
    }
}
