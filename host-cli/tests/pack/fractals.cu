// Fractals: loops that lanes leave at different times, in both precisions.
template <typename T> __device__ int escape(T x, T y, T cx, T cy, int limit) {
    int k = 0;
    for (; k < limit && x * x + y * y < T(4); k++) {
        T next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    return k;
}
template <typename T> __global__ void mandel(uchar4 *out, int width, int height, int limit, T left, T top, T step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int k = escape<T>(0, 0, left + x * step, top + y * step, limit);
    out[y * width + x] = make_uchar4(k, k * 3, k * 7, 0);
}
template __global__ void mandel<float>(uchar4 *, int, int, int, float, float, float);
template __global__ void mandel<double>(uchar4 *, int, int, int, double, double, double);
extern "C" __global__ void julia(unsigned short *out, int width, float2 c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = escape<float>((i % width) * 0.01f, (i / width) * 0.01f, c.x, c.y, 100);
}
