// The matrix Q of magnetic resonance imaging with samples off the grid: for each voxel the sum over
// all samples of the coil's squared magnitude times a complex exponential of their inner product.
//
// Samples are (x, y, z, squared magnitude); the first kernel computes the magnitudes. A thread has
// one voxel, and samples are staged in shared memory.
#include "../strata_cuda.h"

#define THREADS 128

#define TWO_PI 6.2831853071795864769f

extern "C" __global__ void mriq_magnitudes(const float *__restrict__ real,
                                           const float *__restrict__ imaginary,
                                           Float4 *__restrict__ samples, int count) {
    const int at = CTAID_X * THREADS + TID_X;
    if (at < count) {
        samples[at].w = real[at] * real[at] + imaginary[at] * imaginary[at];
    }
}

extern "C" __global__ void mriq(const Float4 *__restrict__ samples, const float *__restrict__ x,
                                const float *__restrict__ y, const float *__restrict__ z,
                                float *__restrict__ q_real, float *__restrict__ q_imaginary,
                                int count, int voxels) {
    __shared__ Float4 tile[THREADS];
    const int thread = TID_X;
    const int voxel = CTAID_X * THREADS + thread;
    const bool exists = voxel < voxels;
    const float vx = exists ? x[voxel] : 0.0f;
    const float vy = exists ? y[voxel] : 0.0f;
    const float vz = exists ? z[voxel] : 0.0f;
    float real = 0.0f;
    float imaginary = 0.0f;

    for (int start = 0; start < count; start += THREADS) {
        BARRIER();
        if (start + thread < count) {
            tile[thread] = samples[start + thread];
        }
        BARRIER();
        const int here = count - start < THREADS ? count - start : THREADS;
#pragma unroll 4
        for (int k = 0; k < here; ++k) {
            const Float4 sample = tile[k];
            const float turns = sample.x * vx + sample.y * vy + sample.z * vz;
            const float angle = TWO_PI * turns;
            real += sample.w * cos_approx(angle);
            imaginary += sample.w * sin_approx(angle);
        }
    }

    if (exists) {
        q_real[voxel] = real;
        q_imaginary[voxel] = imaginary;
    }
}
