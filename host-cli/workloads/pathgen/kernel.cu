// Paths of a price for an Asian option: each thread follows one path and its mirror image (antithetic
// variates) through the time steps, with normal numbers of its own XORWOW generator (Box-Muller),
// and keeps every price, the mean of each path and the mean of its logarithms to base 2.
#include "../strata_cuda.h"

#define THREADS 256
#define WEYL 362437u
#define PAIRS 2

struct Generator {
    u32 x, y, z, w, v, weyl;
};

__device__ __forceinline__ u32 draw(Generator &of) {
    const u32 mixed = of.x ^ (of.x >> 2);
    of.x = of.y;
    of.y = of.z;
    of.z = of.w;
    of.w = of.v;
    of.v = of.v ^ (of.v << 4) ^ mixed ^ (mixed << 1);
    of.weyl += WEYL;
    return of.weyl + of.v;
}

// In (0, 1): the middle of one of 2^23 parts.
__device__ __forceinline__ float fraction(u32 drawn) {
    return ((float)(drawn >> 9) + 0.5f) * (1.0f / 8388608.0f);
}

extern "C" __global__ void pathgen(const u32 *__restrict__ states, float *__restrict__ prices,
                                   float *__restrict__ means, int paths, int steps, float spot, float drift, float volatility) {
    const int path = CTAID_X * THREADS + TID_X;
    if (path >= paths) {
        return;
    }
    Generator random = {states[path],
                        states[paths + path],
                        states[2 * paths + path],
                        states[3 * paths + path],
                        states[4 * paths + path],
                        states[5 * paths + path]};
    float level = log2_approx(spot);
    float mirrored_level = level;
    float sum = 0.0f;
    float mirrored_sum = 0.0f;
    float levels = 0.0f;
    float mirrored_levels = 0.0f;
    float *__restrict__ to = prices + path;
    const int apart = paths * steps;
    const float angle_scale = 6.2831853f;
#pragma unroll 1
    for (int step = 0; step < steps; step += PAIRS) {
        // -2 ln u = -2 ln 2 log2 u
        const float radius = sqrt_approx(-1.3862944f * log2_approx(fraction(draw(random))));
        const float angle = angle_scale * fraction(draw(random));
        const float across = radius * cos_approx(angle);
        level += drift + volatility * across;
        mirrored_level += drift - volatility * across;
        levels += level;
        mirrored_levels += mirrored_level;
        const float price = exp2_approx(level);
        const float mirrored = exp2_approx(mirrored_level);
        sum += price;
        mirrored_sum += mirrored;
        to[0] = price;
        to[apart] = mirrored;
        if (step + 1 < steps) {
            const float along = radius * sin_approx(angle);
            level += drift + volatility * along;
            mirrored_level += drift - volatility * along;
            levels += level;
            mirrored_levels += mirrored_level;
            const float next_price = exp2_approx(level);
            const float next_mirrored = exp2_approx(mirrored_level);
            sum += next_price;
            mirrored_sum += next_mirrored;
            to[paths] = next_price;
            to[apart + paths] = next_mirrored;
        }
        to += PAIRS * paths;
    }
    const float each = 1.0f / (float)steps;
    means[path] = each * sum;
    means[paths + path] = each * mirrored_sum;
    means[2 * paths + path] = each * levels;
    means[3 * paths + path] = each * mirrored_levels;
}
