// Escape times of the Mandelbrot set, summed over 2 x 2 samples of each pixel.
//
// Neighbouring samples leave the loop at different times: the kernel is about divergence. All
// arithmetic is by single IEEE operations, because the smallest difference grows without bound.
#include "../strata_cuda.h"

extern "C" __global__ void mandelbrot(u32 *__restrict__ times, int columns, int rows, float left,
                                      float top, float width, int limit) {
    const int x = CTAID_X * NTID_X + TID_X;
    const int y = CTAID_Y * NTID_Y + TID_Y;
    if (x >= columns || y >= rows) {
        return;
    }
    const float spacing = width / (float)(2 * columns);
    u32 total = 0;
#pragma unroll 1
    for (int sample = 0; sample < 4; ++sample) {
        const float real = fma_rn((float)(2 * x + (sample & 1)), spacing, left);
        const float imaginary = fma_rn((float)(2 * y + (sample >> 1)), spacing, top);
        float a = 0.0f;
        float b = 0.0f;
        int time = 0;
        while (time < limit) {
            const float a_square = mul_rn(a, a);
            const float b_square = mul_rn(b, b);
            if (add_rn(a_square, b_square) > 4.0f) {
                break;
            }
            b = fma_rn(add_rn(a, a), b, imaginary);
            a = add_rn(sub_rn(a_square, b_square), real);
            ++time;
        }
        total += time;
    }
    times[y * columns + x] = total;
}
