// Asynchronous copies by the pipeline's primitives, and of every size.
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void staged(const float4 *in, float4 *out, int stages) {
    __shared__ float4 buffers[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffers[0][t], &in[t], sizeof(float4));
    __pipeline_commit();
    for (int s = 0; s < stages; s++) {
        if (s + 1 < stages) __pipeline_memcpy_async(&buffers[(s + 1) & 1][t], &in[(s + 1) * 128 + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = buffers[s & 1][127 - t];
        out[s * 128 + t] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
        __syncthreads();
    }
}
extern "C" __global__ void sizes(const char *in, int *out) {
    __shared__ __align__(16) char box[128 * 28];
    int t = threadIdx.x;
    __pipeline_memcpy_async(box + t * 4, in + t * 4, 4);
    __pipeline_memcpy_async(box + 512 + t * 8, in + t * 8, 8);
    __pipeline_memcpy_async(box + 1536 + t * 16, in + t * 16, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = box[t * 4] + box[512 + t * 8] + box[1536 + t * 16 + 15];
}
