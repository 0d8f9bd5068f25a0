// Systems of equations with three diagonals, by parallel cyclic reduction: one CTA for each system,
// one thread for each equation.
//
// A step replaces an unknown's two neighbours by those at twice the distance. The last two equations
// that are left of each set are solved together. Coefficients and solution are in shared memory, 20
// bytes for each thread.
#include "../strata_cuda.h"

#define MOST 256

extern "C" __global__ void pcr(const float *__restrict__ lower, const float *__restrict__ diagonal,
                               const float *__restrict__ upper, const float *__restrict__ right,
                               float *__restrict__ solution, int length) {
    __shared__ float a[MOST];
    __shared__ float b[MOST];
    __shared__ float c[MOST];
    __shared__ float d[MOST];
    __shared__ float x[MOST];
    const int own = TID_X;
    const int at = CTAID_X * length + own;
    const int last = length - 1;
    const bool inside = own < length;
    if (inside) {
        a[own] = own > 0 ? lower[at] : 0.0f;
        b[own] = diagonal[at];
        c[own] = own < last ? upper[at] : 0.0f;
        d[own] = right[at];
    }
    BARRIER();

    int stride = 1;
    for (; 2 * stride < length; stride *= 2) {
        float next_a = 0.0f;
        float next_b = 0.0f;
        float next_c = 0.0f;
        float next_d = 0.0f;
        if (inside) {
            // Beyond the ends the factors are zero: no equation has an unknown there.
            const int before = own >= stride ? own - stride : 0;
            const int after = own + stride < last ? own + stride : last;
            const float from_before = a[own] / b[before];
            const float from_after = c[own] / b[after];
            next_a = -a[before] * from_before;
            next_b = b[own] - c[before] * from_before - a[after] * from_after;
            next_c = -c[after] * from_after;
            next_d = d[own] - d[before] * from_before - d[after] * from_after;
        }
        BARRIER();
        if (inside) {
            a[own] = next_a;
            b[own] = next_b;
            c[own] = next_c;
            d[own] = next_d;
        }
        BARRIER();
    }

    if (inside && own < stride) {
        const int other = own + stride;
        if (other < length) {
            const float determinant = b[own] * b[other] - c[own] * a[other];
            x[own] = (d[own] * b[other] - c[own] * d[other]) / determinant;
            x[other] = (b[own] * d[other] - d[own] * a[other]) / determinant;
        } else {
            x[own] = d[own] / b[own];
        }
    }
    BARRIER();
    if (inside) {
        solution[at] = x[own];
    }
}
