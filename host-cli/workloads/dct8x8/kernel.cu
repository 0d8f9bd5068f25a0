// Filters an image in the frequency domain: the two-dimensional discrete cosine transform of its
// 8 x 8 blocks, and the inverse transform of the weighted coefficients.
//
// Eight threads work on a block: each transforms one row in registers, hands it to the others
// through shared memory, and transforms one column. A CTA holds BLOCKS of them.
#include "../strata_cuda.h"

#define BLOCKS 20
#define PITCH 9

// cos(k * pi / 16), halved; the constant term is sqrt(1 / 8).
#define C0 0.353553391f
#define C1 0.490392640f
#define C2 0.461939766f
#define C3 0.415734806f
#define C5 0.277785117f
#define C6 0.191341716f
#define C7 0.097545161f

__device__ __forceinline__ void forward(float v[8]) {
    const float s0 = v[0] + v[7], d0 = v[0] - v[7];
    const float s1 = v[1] + v[6], d1 = v[1] - v[6];
    const float s2 = v[2] + v[5], d2 = v[2] - v[5];
    const float s3 = v[3] + v[4], d3 = v[3] - v[4];
    const float outer = s0 + s3, inner = s1 + s2;
    const float outer_d = s0 - s3, inner_d = s1 - s2;
    v[0] = (outer + inner) * C0;
    v[4] = (outer - inner) * C0;
    v[2] = outer_d * C2 + inner_d * C6;
    v[6] = outer_d * C6 - inner_d * C2;
    v[1] = d0 * C1 + d1 * C3 + d2 * C5 + d3 * C7;
    v[3] = d0 * C3 - d1 * C7 - d2 * C1 - d3 * C5;
    v[5] = d0 * C5 - d1 * C1 + d2 * C7 + d3 * C3;
    v[7] = d0 * C7 - d1 * C5 + d2 * C3 - d3 * C1;
}

__device__ __forceinline__ void inverse(float v[8]) {
    const float a = (v[0] + v[4]) * C0, b = (v[0] - v[4]) * C0;
    const float c = v[2] * C2 + v[6] * C6, d = v[2] * C6 - v[6] * C2;
    const float s0 = a + c, s1 = b + d, s2 = b - d, s3 = a - c;
    const float d0 = v[1] * C1 + v[3] * C3 + v[5] * C5 + v[7] * C7;
    const float d1 = v[1] * C3 - v[3] * C7 - v[5] * C1 - v[7] * C5;
    const float d2 = v[1] * C5 - v[3] * C1 + v[5] * C7 + v[7] * C3;
    const float d3 = v[1] * C7 - v[3] * C5 + v[5] * C3 - v[7] * C1;
    v[0] = s0 + d0;
    v[7] = s0 - d0;
    v[1] = s1 + d1;
    v[6] = s1 - d1;
    v[2] = s2 + d2;
    v[5] = s2 - d2;
    v[3] = s3 + d3;
    v[4] = s3 - d3;
}

extern "C" __global__ void dct_forward(const u8 *__restrict__ image,
                                       float *__restrict__ coefficients, int columns,
                                       int blocks) {
    __shared__ float exchange[BLOCKS][8 * PITCH];
    const int lane = TID_X;
    const int block = CTAID_X * BLOCKS + TID_Y;
    const bool active = block < blocks;
    const int across = columns / 8;
    const int corner = (block / across) * 8 * columns + (block % across) * 8;
    float *tile = exchange[TID_Y];

    float v[8];
    if (active) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = (float)image[corner + lane * columns + k] - 128.0f;
        }
        forward(v);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            tile[lane * PITCH + k] = v[k];
        }
    }
    BARRIER();
    if (active) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = tile[k * PITCH + lane];
        }
        forward(v);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            coefficients[corner + k * columns + lane] = v[k];
        }
    }
}

extern "C" __global__ void dct_inverse(const float *__restrict__ coefficients,
                                       const float *__restrict__ weights,
                                       float *__restrict__ filtered, int columns, int blocks) {
    __shared__ float exchange[BLOCKS][8 * PITCH];
    const int lane = TID_X;
    const int block = CTAID_X * BLOCKS + TID_Y;
    const bool active = block < blocks;
    const int across = columns / 8;
    const int corner = (block / across) * 8 * columns + (block % across) * 8;
    float *tile = exchange[TID_Y];

    float v[8];
    if (active) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = coefficients[corner + k * columns + lane] * weights[k * 8 + lane];
        }
        inverse(v);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            tile[k * PITCH + lane] = v[k];
        }
    }
    BARRIER();
    if (active) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = tile[lane * PITCH + k];
        }
        inverse(v);
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            filtered[corner + lane * columns + k] = v[k] + 128.0f;
        }
    }
}
