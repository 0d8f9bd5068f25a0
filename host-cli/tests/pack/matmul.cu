// Products of matrices: plain, tiles in shared memory, register blocks.
extern "C" __global__ void matmul_plain(const float *a, const float *b, float *c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
template <int SIDE> __global__ void matmul_tiles(float *c, const float *a, const float *b, int wa, int wb) {
    __shared__ float as[SIDE][SIDE], bs[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int tile = 0; tile < wa; tile += SIDE) {
        as[y][x] = a[row * wa + tile + x];
        bs[y][x] = b[(tile + y) * wb + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * wb + column] = sum;
}
template __global__ void matmul_tiles<16>(float *, const float *, const float *, int, int);
extern "C" __global__ void __launch_bounds__(64, 4) matmul_registers(const double *a, const double *b, double *c, int k, int lda, int ldb, int ldc) {
    double sums[4][2] = {};
    for (int i = 0; i < k; i++) {
        double right[2] = {b[i * ldb + threadIdx.x], b[i * ldb + threadIdx.x + 64]};
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 2; s++) sums[r][s] = fma(a[r * lda + i], right[s], sums[r][s]);
    }
    for (int r = 0; r < 4; r++) {
        c[r * ldc + threadIdx.x] = sums[r][0];
        c[r * ldc + threadIdx.x + 64] = sums[r][1];
    }
}
