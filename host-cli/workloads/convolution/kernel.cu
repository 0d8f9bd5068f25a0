// Convolution of the rows of a picture with a symmetric or other kernel of 17 weights, which stay in
// registers; four pixels for each thread, one after the other. Beyond the edge the last pixel of the
// row repeats.
#include "../strata_cuda.h"

#define RADIUS 8
#define WIDTH 32
#define HEIGHT 6
#define PIXELS 4

__device__ __forceinline__ int clamp(int at, int last) {
    return at < 0 ? 0 : at > last ? last : at;
}

extern "C" __global__ void convolution(const float *__restrict__ picture,
                                       const float *__restrict__ weights,
                                       float *__restrict__ result, int columns, int rows) {
    const int y = CTAID_Y * HEIGHT + TID_Y;
    int x = CTAID_X * (WIDTH * PIXELS) + TID_X;
    if (y >= rows) {
        return;
    }
    float weight[2 * RADIUS + 1];
#pragma unroll
    for (int i = 0; i <= 2 * RADIUS; ++i) {
        weight[i] = weights[i];
    }
    const float *__restrict__ row = picture + y * columns;
#pragma unroll 1
    for (int pixel = 0; pixel < PIXELS && x < columns; ++pixel, x += WIDTH) {
        float sum = 0.0f;
#pragma unroll
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            sum += weight[RADIUS + i] * row[clamp(x + i, columns - 1)];
        }
        result[y * columns + x] = sum;
    }
}
