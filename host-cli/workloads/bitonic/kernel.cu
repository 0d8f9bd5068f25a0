// Sorts each row of a matrix of keys, and their values with them, by a bitonic network in shared
// memory. Equal keys are ordered by their values.
//
// A CTA of 128 threads has a row of up to 256 keys; what is missing at its end is filled with the
// largest key and value.
#include "../strata_cuda.h"

#define THREADS 128
#define SIZE (2 * THREADS)

extern "C" __global__ void bitonic(const u32 *__restrict__ keys, const u32 *__restrict__ values,
                                   u32 *__restrict__ sorted_keys, u32 *__restrict__ sorted_values,
                                   int length) {
    __shared__ u32 key[SIZE];
    __shared__ u32 value[SIZE];
    const int thread = TID_X;
    const int row = CTAID_X * length;
    for (int i = thread; i < SIZE; i += THREADS) {
        key[i] = i < length ? keys[row + i] : 0xffffffffu;
        value[i] = i < length ? values[row + i] : 0xffffffffu;
    }

    for (int size = 2; size <= SIZE; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            BARRIER();
            const int low = 2 * thread - (thread & (stride - 1));
            const int high = low + stride;
            const bool up = (low & size) == 0;
            const u32 low_key = key[low];
            const u32 high_key = key[high];
            const u32 low_value = value[low];
            const u32 high_value = value[high];
            const bool above = low_key > high_key || (low_key == high_key && low_value > high_value);
            if (above == up) {
                key[low] = high_key;
                key[high] = low_key;
                value[low] = high_value;
                value[high] = low_value;
            }
        }
    }
    BARRIER();

    for (int i = thread; i < length; i += THREADS) {
        sorted_keys[row + i] = key[i];
        sorted_values[row + i] = value[i];
    }
}
