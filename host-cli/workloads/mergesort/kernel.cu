// Merge sort of keys with values in shared memory: a CTA of 512 threads sorts 1024 pairs. Sorted runs
// of 1, 2, 4, ... 512 pairs are merged two by two; each thread takes one element of both and finds
// its place in the other by binary search. Equal keys keep their order.
#include "../strata_cuda.h"

#define THREADS 512
#define PAIRS (2 * THREADS)

// How many of `count` keys in order, a power of two, are less than one; or not greater.
template <bool OR_EQUAL>
__device__ __forceinline__ int rank(u32 key, const u32 *keys, int count) {
    int at = 0;
    for (int step = count; step > 0; step >>= 1) {
        const int next = at + step;
        if (next <= count) {
            const u32 other = keys[next - 1];
            if (other < key || (OR_EQUAL && other == key)) {
                at = next;
            }
        }
    }
    return at;
}

extern "C" __global__ void mergesort(const u32 *__restrict__ keys_in,
                                     const u32 *__restrict__ values_in, u32 *__restrict__ keys_out,
                                     u32 *__restrict__ values_out, int count) {
    __shared__ u32 keys[PAIRS];
    __shared__ u32 values[PAIRS];
    const int first = CTAID_X * PAIRS + TID_X;
    const int second = first + THREADS;
    // What fills up the last tile stays behind all others.
    keys[TID_X] = first < count ? keys_in[first] : 0xffffffffu;
    values[TID_X] = first < count ? values_in[first] : 0;
    keys[TID_X + THREADS] = second < count ? keys_in[second] : 0xffffffffu;
    values[TID_X + THREADS] = second < count ? values_in[second] : 0;
#pragma unroll 1
    for (int run = 1; run < PAIRS; run <<= 1) {
        BARRIER();
        const int at = TID_X & (run - 1);
        const int base = 2 * (TID_X - at);
        const u32 left_key = keys[base + at];
        const u32 left_value = values[base + at];
        const u32 right_key = keys[base + run + at];
        const u32 right_value = values[base + run + at];
        const int left_to = base + at + rank<false>(left_key, keys + base + run, run);
        const int right_to = base + at + rank<true>(right_key, keys + base, run);
        BARRIER();
        keys[left_to] = left_key;
        values[left_to] = left_value;
        keys[right_to] = right_key;
        values[right_to] = right_value;
    }
    BARRIER();
    if (first < count) {
        keys_out[first] = keys[TID_X];
        values_out[first] = values[TID_X];
    }
    if (second < count) {
        keys_out[second] = keys[TID_X + THREADS];
        values_out[second] = values[TID_X + THREADS];
    }
}
