// Prefix sums of a vector: the sum of all elements before each one.
//
// A CTA scans 1024 elements, four for each thread: sums of fours go through a tree in shared memory
// upwards and downwards, and the CTA's total is stored for a second launch, which scans the totals
// in the same way. A third launch adds to each element what stands before its CTA.
#include "../strata_cuda.h"

#define THREADS 256
#define EACH 4
#define TILE (THREADS * EACH)

// Places in shared memory have a gap after every 32, so that powers of two fall into different
// banks.
#define PLACE(i) ((i) + (i) / 32)

extern "C" __global__ void scan_tiles(const u32 *__restrict__ input, u32 *__restrict__ output,
                                      u32 *__restrict__ totals, int n) {
    __shared__ u32 sums[PLACE(THREADS)];
    const int thread = TID_X;
    const int first = CTAID_X * TILE + thread * EACH;
    u32 value[EACH];
    u32 own = 0;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        value[i] = first + i < n ? input[first + i] : 0;
        own += value[i];
    }
    sums[PLACE(thread)] = own;

    int stride = 1;
    for (int nodes = THREADS / 2; nodes > 0; nodes /= 2) {
        BARRIER();
        if (thread < nodes) {
            const int left = stride * (2 * thread + 1) - 1;
            const int right = stride * (2 * thread + 2) - 1;
            sums[PLACE(right)] += sums[PLACE(left)];
        }
        stride *= 2;
    }
    if (thread == 0) {
        totals[CTAID_X] = sums[PLACE(THREADS - 1)];
        sums[PLACE(THREADS - 1)] = 0;
    }
    for (int nodes = 1; nodes < THREADS; nodes *= 2) {
        stride /= 2;
        BARRIER();
        if (thread < nodes) {
            const int left = stride * (2 * thread + 1) - 1;
            const int right = stride * (2 * thread + 2) - 1;
            const u32 before = sums[PLACE(left)];
            sums[PLACE(left)] = sums[PLACE(right)];
            sums[PLACE(right)] += before;
        }
    }
    BARRIER();

    u32 before = sums[PLACE(thread)];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        if (first + i < n) {
            output[first + i] = before;
        }
        before += value[i];
    }
}

extern "C" __global__ void scan_add(u32 *__restrict__ output, const u32 *__restrict__ before,
                                    int n) {
    const u32 sum = before[CTAID_X];
    const int first = CTAID_X * TILE + TID_X;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int at = first + i * THREADS;
        if (at < n) {
            output[at] += sum;
        }
    }
}
