// A picture seen through an affine map, as a texture unit filters: each pixel is the mean of four
// samples, and each sample weighs the four texels around it. Coordinates are clamped to the edge.
//
// Texels are (red, green, blue, alpha); they are loaded one by one, without a texture unit.
#include "../strata_cuda.h"

#define WIDTH 16
#define HEIGHT 8

__device__ __forceinline__ int clamp(int at, int size) {
    return at < 0 ? 0 : at < size ? at : size - 1;
}

__device__ __forceinline__ Float4 mix(Float4 a, Float4 b, float part) {
    Float4 mixed;
    mixed.x = a.x + part * (b.x - a.x);
    mixed.y = a.y + part * (b.y - a.y);
    mixed.z = a.z + part * (b.z - a.z);
    mixed.w = a.w + part * (b.w - a.w);
    return mixed;
}

__device__ __forceinline__ Float4 sample(const Float4 *__restrict__ texels, int columns, int rows,
                                         float u, float v) {
    const int left = round_down(u);
    const int top = round_down(v);
    const float across = u - (float)left;
    const float down = v - (float)top;
    const int x0 = clamp(left, columns);
    const int x1 = clamp(left + 1, columns);
    const int y0 = clamp(top, rows) * columns;
    const int y1 = clamp(top + 1, rows) * columns;
    return mix(mix(texels[y0 + x0], texels[y0 + x1], across),
               mix(texels[y1 + x0], texels[y1 + x1], across), down);
}

extern "C" __global__ void bilinear(const Float4 *__restrict__ texels, Float4 *__restrict__ pixels,
                                    int columns, int rows, int width, int height, float scale_x,
                                    float skew_x, float start_x, float skew_y, float scale_y,
                                    float start_y) {
    const int x = CTAID_X * WIDTH + TID_X;
    const int y = CTAID_Y * HEIGHT + TID_Y;
    if (x >= width || y >= height) {
        return;
    }
    Float4 sum;
    sum.x = sum.y = sum.z = sum.w = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float px = (float)x + ((i & 1) ? 0.75f : 0.25f);
        const float py = (float)y + ((i & 2) ? 0.75f : 0.25f);
        const float u = scale_x * px + skew_x * py + start_x;
        const float v = skew_y * px + scale_y * py + start_y;
        const Float4 got = sample(texels, columns, rows, u, v);
        sum.x += got.x;
        sum.y += got.y;
        sum.z += got.z;
        sum.w += got.w;
    }
    sum.x *= 0.25f;
    sum.y *= 0.25f;
    sum.z *= 0.25f;
    sum.w *= 0.25f;
    pixels[y * width + x] = sum;
}
