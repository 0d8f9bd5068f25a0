// Eight-bit floating point: both formats, from and to wider ones, and scaled sums.
#include <cuda_fp8.h>
extern "C" __global__ void quantise(const float2 *in, __nv_fp8x2_e4m3 *four, __nv_fp8x2_e5m2 *five) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    four[i] = __nv_fp8x2_e4m3(in[i]);
    five[i] = __nv_fp8x2_e5m2(in[i]);
}
extern "C" __global__ void expand(const __nv_fp8x2_storage_t *in, __half2 *four, __half2 *five) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    four[i] = __half2(__nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E4M3));
    five[i] = __half2(__nv_cvt_fp8x2_to_halfraw2(in[i], __NV_E5M2));
}
extern "C" __global__ void from_halves(const __half2 *in, __nv_fp8x2_storage_t *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __nv_cvt_halfraw2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
}
