// Stencils: seven points in three dimensions, five in two with a halo, and Jacobi's step.
extern "C" __global__ void stencil7(const float *in, float *out, int nx, int ny, int nz, float c0, float c1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    float below = in[y * nx + x], here = in[(ny + y) * nx + x];
    for (int z = 1; z < nz - 1; z++) {
        int at = (z * ny + y) * nx + x;
        float above = in[at + nx * ny];
        out[at] = c1 * (above + below + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]) - c0 * here;
        below = here;
        here = above;
    }
}
extern "C" __global__ void stencil_halo(const float *in, float *out, int width) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y + 1][threadIdx.x + 1] = in[y * width + x];
    if (threadIdx.x == 0) tile[threadIdx.y + 1][0] = x ? in[y * width + x - 1] : 0;
    if (threadIdx.x == 15) tile[threadIdx.y + 1][17] = in[y * width + min(x + 1, width - 1)];
    if (threadIdx.y == 0) tile[0][threadIdx.x + 1] = y ? in[(y - 1) * width + x] : 0;
    if (threadIdx.y == 15) tile[17][threadIdx.x + 1] = in[min(y + 1, width - 1) * width + x];
    __syncthreads();
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    out[y * width + x] = 0.25f * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i]);
}
extern "C" __global__ void jacobi(const double *a, const double *b, const double *x, double *next, int n, double *change) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    double sum = 0;
    for (int k = 0; k < n; k++)
        if (k != row) sum += a[row * n + k] * x[k];
    next[row] = (b[row] - sum) / a[row * n + row];
    atomicAdd(change, fabs(next[row] - x[row]));
}
