// Texture objects in every shape, with and without filtering.
extern "C" __global__ void texels_of_line(cudaTextureObject_t t, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t, i);
}
extern "C" __global__ void line(cudaTextureObject_t t, float *out, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1D<float>(t, i * step);
}
extern "C" __global__ void rotate(cudaTextureObject_t t, float *out, int width, int height, float angle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (float)x / width - 0.5f, v = (float)y / height - 0.5f, s = sinf(angle), c = cosf(angle);
    out[y * width + x] = tex2D<float>(t, u * c - v * s + 0.5f, v * c + u * s + 0.5f);
}
extern "C" __global__ void volume(cudaTextureObject_t t, float4 *out, float depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    for (float z = 0; z < depth && sum.w < 0.95f; z += 0.125f) {
        float4 s = tex3D<float4>(t, threadIdx.x * 0.01f, blockIdx.x * 0.01f, z);
        float a = s.w * (1 - sum.w);
        sum.x += s.x * a; sum.y += s.y * a; sum.z += s.z * a; sum.w += a + 0.001f;
    }
    out[i] = sum;
}
extern "C" __global__ void gather(cudaTextureObject_t t, float4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[4 * i] = tex2Dgather<float4>(t, i * 0.25f, i * 0.5f, 0);
    out[4 * i + 1] = tex2Dgather<float4>(t, i * 0.25f, i * 0.5f, 1);
    out[4 * i + 2] = tex2Dgather<float4>(t, i * 0.25f, i * 0.5f, 2);
    out[4 * i + 3] = tex2Dgather<float4>(t, i * 0.25f, i * 0.5f, 3);
}
extern "C" __global__ void integers(cudaTextureObject_t t, int4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<int4>(t, i + 0.5f, 0.5f);
}
