// Functions of single precision: the library's, which reduce arguments in local memory, and the fast ones.
extern "C" __global__ void library(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    out[i] = sinf(x) + cosf(x) + tanf(x) + expf(x) + logf(x + 1) + powf(x, 1.5f) + atan2f(x, 2) + asinf(x) + sinhf(x) + erff(x) + tgammaf(x + 1);
    out[i] += cbrtf(x) + hypotf(x, 1) + fmodf(x, 0.3f) + remainderf(x, 0.7f) + floorf(x) + ceilf(x) + rintf(x) + roundf(x) + truncf(x) + log1pf(x) + exp2f(x) + ldexpf(x, 3) + j0f(x);
}
extern "C" __global__ void fast(const float *in, float *out) {
    float x = in[threadIdx.x];
    out[threadIdx.x] = __sinf(x) + __cosf(x) + __expf(x) + __log2f(x + 1) + __powf(x, 2) + __fdividef(x, 3) + __frcp_rn(x + 1) + __fsqrt_rz(x) + __frsqrt_rn(x + 1) + __saturatef(x) + __exp10f(x);
}
extern "C" __global__ void rounded(const float *in, float *out, int *ints) {
    float x = in[threadIdx.x], y = in[threadIdx.x + 1];
    out[threadIdx.x] = __fadd_ru(x, y) + __fmul_rd(x, y) + __fmaf_rz(x, y, x) + __fdiv_rd(x, y + 1) + __fsub_rz(x, y);
    ints[threadIdx.x] = __float2int_ru(x) + __float2uint_rd(y) + (int)__float2ll_rn(x) + __float_as_int(__int2float_rz(threadIdx.x)) + isnan(x) + isinf(y) + signbit(x) + ilogbf(y);
}
