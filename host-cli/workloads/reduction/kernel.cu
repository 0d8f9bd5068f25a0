// Sum and maximum of a vector: every thread folds a strided share, warps combine by shuffles, and
// the warps of a CTA through shared memory. `reduce` leaves one pair for each CTA, `reduce_final`
// folds those pairs with a single CTA.
//
// Both kernels expect whole warps, at most 32 of them.
#include "../strata_cuda.h"

#define LOWEST (-3.402823466e38f)

__device__ __forceinline__ void fold_block(float sum, float largest, float *sum_out,
                                           float *largest_out) {
    __shared__ float sums[32];
    __shared__ float maxima[32];
    const int lane = TID_X & 31;
    const int warp = TID_X >> 5;

#pragma unroll
    for (int delta = 16; delta > 0; delta >>= 1) {
        sum += shuffle_down(sum, delta);
        largest = maximum(largest, shuffle_down(largest, delta));
    }
    if (lane == 0) {
        sums[warp] = sum;
        maxima[warp] = largest;
    }
    BARRIER();
    if (warp == 0) {
        const int warps = NTID_X >> 5;
        sum = lane < warps ? sums[lane] : 0.0f;
        largest = lane < warps ? maxima[lane] : LOWEST;
#pragma unroll
        for (int delta = 16; delta > 0; delta >>= 1) {
            sum += shuffle_xor(sum, delta);
            largest = maximum(largest, shuffle_xor(largest, delta));
        }
        if (lane == 0) {
            *sum_out = sum;
            *largest_out = largest;
        }
    }
}

extern "C" __global__ void reduce(const float *__restrict__ input, float *__restrict__ sums,
                                  float *__restrict__ maxima, int n) {
    const int stride = NCTAID_X * NTID_X;
    float sum = 0.0f;
    float largest = LOWEST;
    for (int at = CTAID_X * NTID_X + TID_X; at < n; at += stride) {
        const float value = input[at];
        sum += value;
        largest = maximum(largest, value);
    }
    fold_block(sum, largest, &sums[CTAID_X], &maxima[CTAID_X]);
}

extern "C" __global__ void reduce_final(const float *__restrict__ sums,
                                        const float *__restrict__ maxima,
                                        float *__restrict__ result, int count) {
    float sum = 0.0f;
    float largest = LOWEST;
    for (int at = TID_X; at < count; at += NTID_X) {
        sum += sums[at];
        largest = maximum(largest, maxima[at]);
    }
    fold_block(sum, largest, &result[0], &result[1]);
}
