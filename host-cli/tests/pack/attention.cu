// A head of attention in halves with wmma, a normalisation of rows, an activation.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void __launch_bounds__(32) head(const half *q, const half *k, const half *v, float *out) {
    __shared__ __align__(32) float scores[16 * 16];
    __shared__ __align__(32) half probabilities[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> c;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> s, o;
    wmma::fill_fragment(s, 0.0f);
    wmma::fill_fragment(o, 0.0f);
    wmma::load_matrix_sync(a, q, 16);
    wmma::load_matrix_sync(b, k, 16);
    wmma::mma_sync(s, a, b, s);
    wmma::store_matrix_sync(scores, s, 16, wmma::mem_row_major);
    __syncwarp();
    if (threadIdx.x < 16) {
        float most = -1e30f, sum = 0;
        for (int j = 0; j < 16; j++) most = fmaxf(most, scores[threadIdx.x * 16 + j]);
        for (int j = 0; j < 16; j++) sum += __expf(scores[threadIdx.x * 16 + j] - most);
        for (int j = 0; j < 16; j++) probabilities[threadIdx.x * 16 + j] = __float2half(__expf(scores[threadIdx.x * 16 + j] - most) / sum);
    }
    __syncwarp();
    wmma::load_matrix_sync(a, probabilities, 16);
    wmma::load_matrix_sync(c, v, 16);
    wmma::mma_sync(o, a, c, o);
    wmma::store_matrix_sync(out, o, 16, wmma::mem_row_major);
}
extern "C" __global__ void normalise(const half2 *in, half2 *out, const float2 *gain, int pairs, float epsilon) {
    float sum = 0;
    const half2 *row = in + blockIdx.x * pairs;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __half22float2(row[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    __shared__ float parts[32];
    for (int m = 16; m; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++) sum += parts[w];
    float scale = rsqrtf(sum / (2 * pairs) + epsilon);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __half22float2(row[i]);
        out[blockIdx.x * pairs + i] = __floats2half2_rn(v.x * scale * gain[i].x, v.y * scale * gain[i].y);
    }
}
extern "C" __global__ void gelu(half *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = __half2float(values[i]);
    values[i] = __float2half(0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))));
}
