// c = a + b over vectors of any length, with a grid-stride loop.
#include "../strata_cuda.h"

extern "C" __global__ void vectoradd(const float *__restrict__ a, const float *__restrict__ b,
                                     float *__restrict__ c, int n) {
    const int stride = NCTAID_X * NTID_X;
    for (int at = CTAID_X * NTID_X + TID_X; at < n; at += stride) {
        c[at] = a[at] + b[at];
    }
}
