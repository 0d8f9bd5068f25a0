// Histogram of bytes: each CTA counts into shared memory, then adds its counts to the global ones.
//
// Bytes are read four at a time; the last few that do not fill a word are counted by CTA 0.
#include "../strata_cuda.h"

#define BINS 256

extern "C" __global__ void histogram(const u32 *__restrict__ words, const u8 *__restrict__ bytes,
                                     u32 *__restrict__ counts, int size) {
    __shared__ u32 local[BINS];
    for (int bin = TID_X; bin < BINS; bin += NTID_X) {
        local[bin] = 0;
    }
    BARRIER();

    const int word_count = size / 4;
    const int stride = NCTAID_X * NTID_X;
    for (int at = CTAID_X * NTID_X + TID_X; at < word_count; at += stride) {
        const u32 word = words[at];
        atomic_add(&local[word & 0xff], 1);
        atomic_add(&local[(word >> 8) & 0xff], 1);
        atomic_add(&local[(word >> 16) & 0xff], 1);
        atomic_add(&local[word >> 24], 1);
    }
    if (CTAID_X == 0) {
        for (int at = word_count * 4 + TID_X; at < size; at += NTID_X) {
            atomic_add(&local[bytes[at]], 1);
        }
    }
    BARRIER();

    for (int bin = TID_X; bin < BINS; bin += NTID_X) {
        const u32 count = local[bin];
        if (count != 0) {
            atomic_add(&counts[bin], count);
        }
    }
}
