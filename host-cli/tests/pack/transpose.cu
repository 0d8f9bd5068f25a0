// Transposition through a tile in shared memory with a column of padding, for several types.
template <typename T> __device__ void tile_transpose(T *out, const T *in, int width, int height) {
    __shared__ T tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void __launch_bounds__(256) transpose_float(float *out, const float *in, int width, int height) {
    tile_transpose(out, in, width, height);
}
extern "C" __global__ void transpose_double(double *out, const double *in, int width, int height) {
    tile_transpose(out, in, width, height);
}
extern "C" __global__ void transpose_char(char *out, const char *in, int width, int height) {
    tile_transpose(out, in, width, height);
}
extern "C" __global__ void transpose_short2(short2 *out, const short2 *in, int width, int height) {
    tile_transpose(out, in, width, height);
}
