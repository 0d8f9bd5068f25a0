// Half precision: arithmetic of one and two, conversions, comparisons, functions, atomics.
#include <cuda_fp16.h>
extern "C" __global__ void dot(const half2 *a, const half2 *b, float *out, int n) {
    half2 sum = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum = __hfma2(a[i], b[i], sum);
    float total = __low2float(sum) + __high2float(sum);
    for (int m = 16; m; m /= 2) total += __shfl_xor_sync(~0u, total, m);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, total);
}
extern "C" __global__ void arithmetic(const half *a, const half *b, half *out) {
    int i = threadIdx.x;
    half x = a[i], y = b[i];
    out[i] = __hadd(x, y) * __hsub(x, y) + __hmul(x, __hadd_sat(y, x)) + __hneg(__habs(y));
    out[i] = out[i] + __hdiv(x, __hadd(y, __float2half(1.0f))) + __hmin(x, y) + __hmax(x, y) + hsqrt(x) + hexp(x) + hsin(y) + htanh(x);
    out[i] = out[i] + hfloor(x) + hrint(y) + htrunc(x) + hceil(y) + __int2half_rn(__half2int_rd(x)) + __ushort2half_rn(__half2ushort_rz(y));
}
extern "C" __global__ void compared(const half2 *a, const half2 *b, unsigned *out) {
    int i = threadIdx.x;
    half2 x = a[i], y = b[i];
    out[i] = __hbeq2(x, y) + __hblt2(x, y) * 2 + __hbge2(x, y) * 4 + __hgt(x.x, y.x) * 8 + __hisnan(x.y) * 16;
    half2 m = __hmax2(__hlt2(x, y), __hmin2(x, y));
    out[i] += __half_as_ushort(__low2half(m)) + __half_as_ushort(__hfma_relu(x.x, y.x, x.y));
}
extern "C" __global__ void converted(const float *f, const double *d, half *out, int *ints) {
    int i = threadIdx.x;
    out[4 * i] = __float2half_rz(f[i]);
    out[4 * i + 1] = __float2half_ru(f[i]);
    out[4 * i + 2] = __double2half(d[i]);
    out[4 * i + 3] = __ll2half_rn((long long)f[i]);
    ints[i] = __half2int_rn(out[4 * i]) + (int)__half2ll_rz(out[4 * i + 1]) + __half2short_ru(out[4 * i + 2]);
}
extern "C" __global__ void summed(const half2 *in, half2 *sums, half *sum) {
    atomicAdd(sums, in[threadIdx.x]);
    atomicAdd(sum, in[threadIdx.x].x);
}
