// States of many sequences of the XORWOW generator (Marsaglia), far apart from each other: sequence s
// is s << SKIP steps after the seed. A step is linear over bits, so that 2^k steps are a matrix of
// 160 x 160 bits; the bits of s choose which matrices the state is multiplied by.
#include "../strata_cuda.h"

#define THREADS 256
#define WORDS 5
#define BITS (32 * WORDS)
#define WEYL 362437u

struct State {
    u32 x, y, z, w, v;
};

// Adds the rows of a matrix that belong to the bits of one word.
__device__ __forceinline__ void add_rows(State &sum, u32 word, const u32 *__restrict__ rows) {
#pragma unroll 1
    for (int bit = 0; bit < 32; bit += 2, rows += 2 * WORDS) {
        const u32 x = rows[0], y = rows[1], z = rows[2], w = rows[3], v = rows[4];
        const u32 next_x = rows[5], next_y = rows[6], next_z = rows[7], next_w = rows[8],
                  next_v = rows[9];
        const u32 mask = 0u - ((word >> bit) & 1u);
        const u32 next_mask = 0u - ((word >> (bit + 1)) & 1u);
        sum.x ^= (x & mask) ^ (next_x & next_mask);
        sum.y ^= (y & mask) ^ (next_y & next_mask);
        sum.z ^= (z & mask) ^ (next_z & next_mask);
        sum.w ^= (w & mask) ^ (next_w & next_mask);
        sum.v ^= (v & mask) ^ (next_v & next_mask);
    }
}

__device__ __forceinline__ State times(const State &state, const u32 *__restrict__ matrix) {
    State sum = {0, 0, 0, 0, 0};
    add_rows(sum, state.x, matrix);
    add_rows(sum, state.y, matrix + 32 * WORDS);
    add_rows(sum, state.z, matrix + 64 * WORDS);
    add_rows(sum, state.w, matrix + 96 * WORDS);
    add_rows(sum, state.v, matrix + 128 * WORDS);
    return sum;
}

// The matrix of one step: row i is what becomes of a state whose only bit is i.
extern "C" __global__ void xorwow_step(u32 *__restrict__ matrices) {
    const int row = TID_X;
    const u32 bit = 1u << (row & 31);
    const int word = row >> 5;
    const u32 first = word == 0 ? bit : 0;
    const u32 last = word == 4 ? bit : 0;
    const u32 mixed = first ^ (first >> 2);
    u32 *__restrict__ to = matrices + row * WORDS;
    to[0] = word == 1 ? bit : 0;
    to[1] = word == 2 ? bit : 0;
    to[2] = word == 3 ? bit : 0;
    to[3] = last;
    to[4] = last ^ (last << 4) ^ mixed ^ (mixed << 1);
}

// Matrix k + 1 is the square of matrix k.
extern "C" __global__ void xorwow_square(const u32 *__restrict__ from, u32 *__restrict__ to, int k) {
    const u32 *__restrict__ matrix = from + k * (BITS * WORDS);
    const u32 *__restrict__ row = matrix + TID_X * WORDS;
    const State state = {row[0], row[1], row[2], row[3], row[4]};
    const State square = times(state, matrix);
    u32 *__restrict__ into = to + ((k + 1) * BITS + TID_X) * WORDS;
    into[0] = square.x;
    into[1] = square.y;
    into[2] = square.z;
    into[3] = square.w;
    into[4] = square.v;
}

// `states` has the five words and the Weyl sequence, each for all sequences.
extern "C" __global__ void xorwow(const u32 *__restrict__ matrices, const u32 *__restrict__ seed,
                                  u32 *__restrict__ states, int sequences, int skip) {
    const int sequence = CTAID_X * THREADS + TID_X;
    if (sequence >= sequences) {
        return;
    }
    State state = {seed[0], seed[1], seed[2], seed[3], seed[4]};
    const u32 *__restrict__ matrix = matrices + skip * (BITS * WORDS);
#pragma unroll 1
    for (u32 rest = sequence; rest != 0; rest >>= 1, matrix += BITS * WORDS) {
        if (rest & 1u) {
            state = times(state, matrix);
        }
    }
    states[sequence] = state.x;
    states[sequences + sequence] = state.y;
    states[2 * sequences + sequence] = state.z;
    states[3 * sequences + sequence] = state.w;
    states[4 * sequences + sequence] = state.v;
    states[5 * sequences + sequence] = seed[5] + WEYL * ((u32)sequence << skip);
}
