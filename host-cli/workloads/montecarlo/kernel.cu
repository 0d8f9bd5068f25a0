// The price of a European call option by random walks: each thread draws normal numbers, lets the
// price take so many steps, and sums up what the option pays and its square.
//
// Random words come from three Tausworthe generators and a linear congruential one, joined; pairs of
// them become normal numbers by the method of Box and Muller.
#include "../strata_cuda.h"

#define THREADS 128

#define LOG2_E 1.4426950408889634f
#define LN_2 0.69314718055994531f
#define TWO_PI 6.2831853071795864769f

struct Random {
    u32 a, b, c, d;
};

__device__ __forceinline__ u32 tausworthe(u32 z, int s1, int s2, int s3, u32 mask) {
    const u32 high = ((z << s1) ^ z) >> s2;
    return ((z & mask) << s3) ^ high;
}

__device__ __forceinline__ u32 draw(Random &state) {
    state.a = tausworthe(state.a, 13, 19, 12, 0xfffffffeu);
    state.b = tausworthe(state.b, 2, 25, 4, 0xfffffff8u);
    state.c = tausworthe(state.c, 3, 11, 17, 0xfffffff0u);
    state.d = state.d * 1664525u + 1013904223u;
    return state.a ^ state.b ^ state.c ^ state.d;
}

// In (0, 1), the middle of one of 2^23 steps: exact in single precision.
__device__ __forceinline__ float uniform(Random &state) {
    return ((float)(draw(state) >> 9) + 0.5f) * (1.0f / 8388608.0f);
}

extern "C" __global__ void montecarlo(const u32 *__restrict__ seeds, float *__restrict__ sums,
                                      float *__restrict__ squares, int walkers, int paths,
                                      int pairs, float price, float strike, float drift,
                                      float volatility) {
    const int walker = CTAID_X * THREADS + TID_X;
    if (walker >= walkers) {
        return;
    }
    Random state;
    // Tausworthe generators must not start below 2, 8 and 16.
    state.a = seeds[4 * walker] | 128u;
    state.b = seeds[4 * walker + 1] | 128u;
    state.c = seeds[4 * walker + 2] | 128u;
    state.d = seeds[4 * walker + 3];
    float sum = 0.0f;
    float square = 0.0f;
    for (int path = 0; path < paths; ++path) {
        float logarithm = 0.0f;
        for (int pair = 0; pair < pairs; ++pair) {
            const float u = uniform(state);
            const float angle = TWO_PI * uniform(state);
            const float radius = sqrt_approx(-2.0f * LN_2 * log2_approx(u));
            // Two normal numbers, two steps.
            logarithm += 2.0f * drift;
            logarithm += volatility * (radius * cos_approx(angle));
            logarithm += volatility * (radius * sin_approx(angle));
        }
        const float end = price * exp2_approx(LOG2_E * logarithm);
        const float paid = maximum(end - strike, 0.0f);
        sum += paid;
        square += paid * paid;
    }
    sums[walker] = sum;
    squares[walker] = square;
}
