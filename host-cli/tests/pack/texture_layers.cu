// Layered textures.
extern "C" __global__ void layers_of_lines(cudaTextureObject_t t, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1DLayered<float>(t, i + 0.5f, blockIdx.x);
}
extern "C" __global__ void layers_of_planes(cudaTextureObject_t t, float *out, int width, int layers) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int l = 0; l < layers; l++) sum += tex2DLayered<float>(t, (x + 0.5f) / width, (y + 0.5f) / width, l);
    out[y * gridDim.x * blockDim.x + x] = sum;
}
extern "C" __global__ void level_zero(cudaTextureObject_t t, uchar4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DLod<uchar4>(t, i * 0.5f, i * 0.25f, 0.0f);
}
