// Scalar products of many pairs of vectors, each pair by one CTA.
//
// Every thread accumulates a strided share of the products in two independent sums; the CTA folds
// the partial sums by halving in shared memory. A CTA takes every NCTAID_X-th pair.
#include "../strata_cuda.h"

#define THREADS 128

extern "C" __global__ void scalarprod(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ products, int pairs, int length) {
    __shared__ float partial[THREADS];
    const int thread = TID_X;

    for (int pair = CTAID_X; pair < pairs; pair += NCTAID_X) {
        const float *x = a + pair * length;
        const float *y = b + pair * length;
        float even = 0.0f;
        float odd = 0.0f;
        int at = thread;
        for (; at + THREADS < length; at += 2 * THREADS) {
            even = fma_rn(x[at], y[at], even);
            odd = fma_rn(x[at + THREADS], y[at + THREADS], odd);
        }
        if (at < length) {
            even = fma_rn(x[at], y[at], even);
        }
        partial[thread] = even + odd;
        BARRIER();
#pragma unroll
        for (int half = THREADS / 2; half > 0; half >>= 1) {
            if (thread < half) {
                partial[thread] += partial[thread + half];
            }
            BARRIER();
        }
        if (thread == 0) {
            products[pair] = partial[0];
        }
        // The next pair's first store needs no barrier: thread t alone writes and then reads
        // partial[t] until the barrier after it, and partial[0] belongs to thread 0.
    }
}
