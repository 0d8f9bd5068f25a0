// Fourier transforms of 512 complex points, one for each CTA of 64 threads.
//
// 512 is 8 x 8 x 8: a thread transforms eight points in registers three times, and between them
// multiplies by twiddle factors and trades points with others through shared memory, first the real
// parts and then the imaginary ones. Point i of the input is at thread i % 64, place i / 64.
#include "../strata_cuda.h"

#define POINTS 512
#define THREADS 64
#define EACH 8

#define HALF_SQRT 0.70710678118654752440f
#define TWO_PI 6.2831853071795864769f

struct Complex {
    float re, im;
};

__device__ __forceinline__ Complex add(Complex a, Complex b) {
    Complex sum;
    sum.re = a.re + b.re;
    sum.im = a.im + b.im;
    return sum;
}

__device__ __forceinline__ Complex subtract(Complex a, Complex b) {
    Complex difference;
    difference.re = a.re - b.re;
    difference.im = a.im - b.im;
    return difference;
}

__device__ __forceinline__ Complex multiply(Complex a, Complex b) {
    Complex product;
    product.re = a.re * b.re - a.im * b.im;
    product.im = a.re * b.im + a.im * b.re;
    return product;
}

// Times -i.
__device__ __forceinline__ Complex turn(Complex a) {
    Complex turned;
    turned.re = a.im;
    turned.im = -a.re;
    return turned;
}

// Sum and difference in place.
__device__ __forceinline__ void butterfly(Complex &a, Complex &b) {
    const Complex sum = add(a, b);
    b = subtract(a, b);
    a = sum;
}

// Four points in place, in bit-reversed order.
__device__ __forceinline__ void four(Complex &a, Complex &b, Complex &c, Complex &d) {
    butterfly(a, c);
    butterfly(b, d);
    d = turn(d);
    butterfly(a, b);
    butterfly(c, d);
}

// Eight points in place, in bit-reversed order.
__device__ __forceinline__ void eight(Complex *v) {
    butterfly(v[0], v[4]);
    butterfly(v[1], v[5]);
    butterfly(v[2], v[6]);
    butterfly(v[3], v[7]);
    // Odd results need the eighth roots of one.
    Complex root;
    root.re = HALF_SQRT;
    root.im = -HALF_SQRT;
    v[5] = multiply(v[5], root);
    v[6] = turn(v[6]);
    root.re = -HALF_SQRT;
    v[7] = multiply(v[7], root);
    four(v[0], v[1], v[2], v[3]);
    four(v[4], v[5], v[6], v[7]);
}

// Where result i of `eight` is.
__device__ __forceinline__ int reversed(int i) {
    return ((i & 1) << 2) | (i & 2) | (i >> 2);
}

// Multiplies result i by exp(-2 pi sqrt(-1) i step / size).
__device__ __forceinline__ void twiddle(Complex *v, int step, float size) {
    const float angle = -TWO_PI / size * (float)step;
#pragma unroll
    for (int i = 1; i < EACH; ++i) {
        Complex factor;
        factor.re = cos_approx(angle * (float)i);
        factor.im = sin_approx(angle * (float)i);
        v[reversed(i)] = multiply(v[reversed(i)], factor);
    }
}

// Result i goes to place `to` + i * `stride`, and what is at place `from` + i * `from_stride` comes
// back as point i. Places have a gap after every eight, against bank conflicts.
__device__ __forceinline__ void trade(Complex *v, float *places, int to, int stride, int from,
                                      int from_stride) {
    Complex got[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        places[to + i * stride] = v[reversed(i)].re;
    }
    BARRIER();
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        got[i].re = places[from + i * from_stride];
    }
    BARRIER();
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        places[to + i * stride] = v[reversed(i)].im;
    }
    BARRIER();
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        got[i].im = places[from + i * from_stride];
    }
    BARRIER();
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        v[i] = got[i];
    }
}

extern "C" __global__ void fft512(const float *__restrict__ real,
                                  const float *__restrict__ imaginary,
                                  float *__restrict__ to_real, float *__restrict__ to_imaginary) {
    // Eight planes of 8 rows of 8 with a gap after each row.
    __shared__ float places[8 * 72];
    const int thread = TID_X;
    const int first = CTAID_X * POINTS + thread;
    Complex v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        v[i].re = real[first + i * THREADS];
        v[i].im = imaginary[first + i * THREADS];
    }

    // The thread is (high, low); its points are those with these last two of three octal digits.
    const int high = thread / 8;
    const int low = thread % 8;
    eight(v);
    twiddle(v, thread, 512.0f);
    // Digit 0 of the result takes the place of the input's first digit; next, points along `high`.
    trade(v, places, high * 9 + low, 72, high * 72 + low, 9);
    // Now `high` is digit 0 of the result, and the points run along the input's second digit.
    eight(v);
    twiddle(v, low, 64.0f);
    trade(v, places, high * 72 + low, 9, low * 72 + high * 9, 1);
    // Now (high, low) are digits 1 and 0 of the result, and the points run along the last digit.
    eight(v);
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        to_real[first + i * THREADS] = v[reversed(i)].re;
        to_imaginary[first + i * THREADS] = v[reversed(i)].im;
    }
}
