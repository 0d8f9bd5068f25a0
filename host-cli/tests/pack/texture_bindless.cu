// Texture objects that come from memory and from structures.
extern "C" __global__ void chosen(const cudaTextureObject_t *all, const int *which, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tex2D<float>(all[which[i]], i + 0.5f, 0.5f);
}
struct Scene { cudaTextureObject_t albedo, normals; float scale; int width; };
extern "C" __global__ void shade(Scene scene, float4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float u = (i % scene.width + 0.5f) * scene.scale, v = (i / scene.width + 0.5f) * scene.scale;
    float4 a = tex2D<float4>(scene.albedo, u, v), n = tex2D<float4>(scene.normals, u, v);
    float light = fmaxf(a.x * n.x + a.y * n.y + a.z * n.z, 0.0f);
    out[i] = make_float4(a.x * light, a.y * light, a.z * light, a.w);
}
