// bfloat16: arithmetic, conversions and a layer of a network.
#include <cuda_bf16.h>
extern "C" __global__ void layer(const __nv_bfloat16 *weights, const __nv_bfloat16 *in, __nv_bfloat16 *out, int inputs) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < inputs; k++) sum += __bfloat162float(weights[row * inputs + k]) * __bfloat162float(in[k]);
    out[row] = __float2bfloat16(fmaxf(sum, 0.0f));
}
extern "C" __global__ void pairs(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out, float2 *floats) {
    int i = threadIdx.x;
    __nv_bfloat162 x = a[i], y = b[i];
    out[i] = __hfma2(x, y, __hadd2(x, __hneg2(y)));
    out[i] = __hmax2(out[i], __hmul2(x, y));
    floats[i] = __bfloat1622float2(__hfma2_relu(x, y, out[i]));
    out[i] = __hsub2(out[i], __float22bfloat162_rn(floats[i]));
}
