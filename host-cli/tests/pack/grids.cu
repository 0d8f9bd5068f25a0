// Physics on grids: heat on a chip, waves, shallow water, lattice Boltzmann in two dimensions.
extern "C" __global__ void heat(const float *power, const float *from, float *to, int columns, int rows, float cap, float rx, float ry, float rz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) return;
    int at = y * columns + x;
    float t = from[at], n = from[y ? at - columns : at], s = from[y < rows - 1 ? at + columns : at], w = from[x ? at - 1 : at], e = from[x < columns - 1 ? at + 1 : at];
    to[at] = t + cap * (power[at] + (n + s - 2 * t) * ry + (w + e - 2 * t) * rx + (80.0f - t) * rz);
}
extern "C" __global__ void wave(const double *before, const double *now, double *next, int n, double courant) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) next[i] = 2 * now[i] - before[i] + courant * courant * (now[i - 1] - 2 * now[i] + now[i + 1]);
}
extern "C" __global__ void field(float *ex, float *ey, const float *hz, const float *source, int step, int nx, int ny) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    if (i == 0) ey[j] = source[step % 64];
    else ey[i * ny + j] -= 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
    if (j > 0) ex[i * ny + j] -= 0.5f * (hz[i * ny + j] - hz[i * ny + j - 1]);
}
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float share[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
extern "C" __global__ void collide(const float *in, float *out, int width, float omega) {
    int x = threadIdx.x, y = blockIdx.x, cells = blockDim.x * gridDim.x;
    float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int sx = (x - cx[k] + blockDim.x) % blockDim.x, sy = (y - cy[k] + gridDim.x) % gridDim.x;
        f[k] = in[k * cells + sy * blockDim.x + sx];
        density += f[k];
        ux += f[k] * cx[k];
        uy += f[k] * cy[k];
    }
    ux /= density;
    uy /= density;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float along = 3 * (cx[k] * ux + cy[k] * uy);
        float rest = share[k] * density * (1 + along + 0.5f * along * along - 1.5f * (ux * ux + uy * uy));
        out[k * cells + y * blockDim.x + x] = f[k] + omega * (rest - f[k]);
    }
}
