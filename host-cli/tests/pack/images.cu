// Images by plain loads: box filter, bilateral filter, Sobel, colours of packed bytes.
extern "C" __global__ void box_rows(const uchar4 *in, uchar4 *out, int width, int height, int radius) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    float3 sum = make_float3(0, 0, 0);
    for (int x = -radius; x < width; x++) {
        if (x + radius < width) {
            uchar4 enters = in[y * width + x + radius];
            sum.x += enters.x; sum.y += enters.y; sum.z += enters.z;
        }
        if (x - radius > 0) {
            uchar4 leaves = in[y * width + x - radius - 1];
            sum.x -= leaves.x; sum.y -= leaves.y; sum.z -= leaves.z;
        }
        float scale = 1.0f / (2 * radius + 1);
        if (x >= 0) out[y * width + x] = make_uchar4(sum.x * scale, sum.y * scale, sum.z * scale, 255);
    }
}
extern "C" __global__ void bilateral(const float *in, float *out, int width, int height, float spread) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float centre = in[y * width + x], sum = 0, weights = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++) {
            float v = in[min(max(y + j, 0), height - 1) * width + min(max(x + i, 0), width - 1)];
            float w = expf(-(i * i + j * j) * 0.125f) * expf(-(v - centre) * (v - centre) / (2 * spread * spread));
            sum += w * v;
            weights += w;
        }
    out[y * width + x] = sum / weights;
}
extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1) return;
    const unsigned char *p = in + y * width + x;
    int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
    int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[1 - width];
    out[y * width + x] = __saturatef((abs(gx) + abs(gy)) / 255.0f) * 255;
}
extern "C" __global__ void brighten(unsigned *pixels, unsigned add, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pixels[i] = __vaddus4(pixels[i], add * 0x01010101u);
}
