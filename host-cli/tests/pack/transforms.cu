// Transforms: Walsh and Hadamard, Haar wavelets, a radix-4 butterfly, a cosine transform of eight.
extern "C" __global__ void walsh(float *values, int log_n) {
    extern __shared__ float s[];
    int n = 1 << (log_n < 7 ? log_n : 7);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = values[i];
    for (int h = 1; h < n; h <<= 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            int low = (i / h) * 2 * h + i % h;
            float a = s[low], b = s[low + h];
            s[low] = a + b;
            s[low + h] = a - b;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = s[i];
}
extern "C" __global__ void haar(const float2 *in, float *approximation, float *detail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 pair = in[i];
    approximation[i] = (pair.x + pair.y) * rsqrtf(2.0f);
    detail[i] = (pair.x - pair.y) * rsqrtf(2.0f);
}
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
extern "C" __global__ void radix4(float2 *data, int stride, float direction) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v[4];
    for (int k = 0; k < 4; k++) {
        float s, c;
        sincosf(direction * 6.2831853f * (k * (i % stride)) / (4 * stride), &s, &c);
        v[k] = times(data[4 * i + k], make_float2(c, s));
    }
    float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    data[4 * i] = make_float2(a.x + c.x, a.y + c.y);
    data[4 * i + 1] = make_float2(b.x + d.x, b.y + d.y);
    data[4 * i + 2] = make_float2(a.x - c.x, a.y - c.y);
    data[4 * i + 3] = make_float2(b.x - d.x, b.y - d.y);
}
__constant__ float cosines[8][8];
extern "C" __global__ void cosine8(const short *in, short *out) {
    float sums[8] = {};
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int k = 0; k < 8; k++) {
        float x = in[base + k];
        for (int f = 0; f < 8; f++) sums[f] += cosines[f][k] * x;
    }
    for (int f = 0; f < 8; f++) out[base + f] = (short)__float2int_rn(sums[f]);
}
