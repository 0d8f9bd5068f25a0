// Speckle reducing anisotropic diffusion (Yu and Acton): smooths an image where it looks like
// speckle and keeps edges. An iteration is four launches: statistics of the image for each CTA, the
// speckle scale from them, diffusion coefficients with the four differences, and the update.
//
// The image is exponentiated first and the result brought back by the logarithm.
#include "../strata_cuda.h"

#define THREADS 256
#define LOG2_E 1.44269504f
#define LN_2 0.693147181f

extern "C" __global__ void srad_extract(const float *__restrict__ image, float *__restrict__ out,
                                        int cells) {
    const int at = CTAID_X * NTID_X + TID_X;
    if (at < cells) {
        out[at] = exp2_approx(image[at] * (LOG2_E / 255.0f));
    }
}

extern "C" __global__ void srad_compress(const float *__restrict__ field, float *__restrict__ out,
                                         int cells) {
    const int at = CTAID_X * NTID_X + TID_X;
    if (at < cells) {
        out[at] = log2_approx(field[at]) * (LN_2 * 255.0f);
    }
}

// Folds two sums over a CTA of THREADS threads; the totals are thread 0's.
__device__ __forceinline__ void fold(float &sum, float &squares) {
    __shared__ float sums[THREADS];
    __shared__ float square_sums[THREADS];
    const int thread = TID_X;
    sums[thread] = sum;
    square_sums[thread] = squares;
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        BARRIER();
        if (thread < half) {
            sums[thread] += sums[thread + half];
            square_sums[thread] += square_sums[thread + half];
        }
    }
    sum = sums[0];
    squares = square_sums[0];
}

extern "C" __global__ void srad_statistics(const float *__restrict__ field,
                                           float *__restrict__ sums, float *__restrict__ squares,
                                           int cells) {
    float sum = 0.0f;
    float square = 0.0f;
    const int stride = NCTAID_X * THREADS;
    for (int at = CTAID_X * THREADS + TID_X; at < cells; at += stride) {
        const float value = field[at];
        sum += value;
        square += value * value;
    }
    fold(sum, square);
    if (TID_X == 0) {
        sums[CTAID_X] = sum;
        squares[CTAID_X] = square;
    }
}

// The square of the speckle scale: variance over squared mean of the whole image.
extern "C" __global__ void srad_scale(const float *__restrict__ sums,
                                      const float *__restrict__ squares,
                                      float *__restrict__ scale, int count, float cells) {
    float sum = 0.0f;
    float square = 0.0f;
    for (int at = TID_X; at < count; at += THREADS) {
        sum += sums[at];
        square += squares[at];
    }
    fold(sum, square);
    if (TID_X == 0) {
        const float mean = sum / cells;
        const float mean_square = mean * mean;
        *scale = (square / cells - mean_square) / mean_square;
    }
}

extern "C" __global__ void srad_coefficient(const float *__restrict__ field,
                                            const float *__restrict__ scale,
                                            float *__restrict__ north, float *__restrict__ south,
                                            float *__restrict__ west, float *__restrict__ east,
                                            float *__restrict__ coefficient, int columns,
                                            int rows) {
    const int x = CTAID_X * NTID_X + TID_X;
    const int y = CTAID_Y * NTID_Y + TID_Y;
    if (x >= columns || y >= rows) {
        return;
    }
    const int at = y * columns + x;
    const float centre = field[at];
    const float to_north = field[y > 0 ? at - columns : at] - centre;
    const float to_south = field[y < rows - 1 ? at + columns : at] - centre;
    const float to_west = field[x > 0 ? at - 1 : at] - centre;
    const float to_east = field[x < columns - 1 ? at + 1 : at] - centre;

    const float gradient = (to_north * to_north + to_south * to_south + to_west * to_west +
                            to_east * to_east) / (centre * centre);
    const float laplacian = (to_north + to_south + to_west + to_east) / centre;
    const float numerator = 0.5f * gradient - (1.0f / 16.0f) * laplacian * laplacian;
    const float denominator = 1.0f + 0.25f * laplacian;
    const float variation = numerator / (denominator * denominator);

    const float q0 = *scale;
    const float c = 1.0f / (1.0f + (variation - q0) / (q0 * (1.0f + q0)));
    coefficient[at] = c < 0.0f ? 0.0f : (c > 1.0f ? 1.0f : c);
    north[at] = to_north;
    south[at] = to_south;
    west[at] = to_west;
    east[at] = to_east;
}

extern "C" __global__ void srad_update(float *__restrict__ field,
                                       const float *__restrict__ coefficient,
                                       const float *__restrict__ north,
                                       const float *__restrict__ south,
                                       const float *__restrict__ west,
                                       const float *__restrict__ east, int columns, int rows,
                                       float lambda) {
    const int x = CTAID_X * NTID_X + TID_X;
    const int y = CTAID_Y * NTID_Y + TID_Y;
    if (x >= columns || y >= rows) {
        return;
    }
    const int at = y * columns + x;
    const float here = coefficient[at];
    const float below = coefficient[y < rows - 1 ? at + columns : at];
    const float right = coefficient[x < columns - 1 ? at + 1 : at];
    const float divergence =
        here * north[at] + below * south[at] + here * west[at] + right * east[at];
    field[at] += 0.25f * lambda * divergence;
}
