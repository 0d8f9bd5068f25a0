// Linear systems: Gaussian elimination, a factorisation of a block, Gram and Schmidt.
extern "C" __global__ void factors(float *m, const float *a, int size, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size - 1 - t) m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}
extern "C" __global__ void eliminate(const float *m, float *a, float *b, int size, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size - 1 - t || y >= size - t) return;
    a[size * (x + 1 + t) + y + t] -= m[size * (x + 1 + t) + t] * a[size * t + y + t];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + t] * b[t];
}
extern "C" __global__ void __launch_bounds__(16) diagonal(float *m, int dimension, int offset) {
    __shared__ float s[16][16];
    for (int i = 0; i < 16; i++) s[i][threadIdx.x] = m[(offset + i) * dimension + offset + threadIdx.x];
    for (int i = 0; i < 15; i++) {
        __syncthreads();
        if (threadIdx.x > i) {
            for (int j = 0; j < i; j++) s[threadIdx.x][i] -= s[threadIdx.x][j] * s[j][i];
            s[threadIdx.x][i] /= s[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i)
            for (int j = 0; j <= i; j++) s[i + 1][threadIdx.x] -= s[i + 1][j] * s[j][threadIdx.x];
    }
    for (int i = 1; i < 16; i++) m[(offset + i) * dimension + offset + threadIdx.x] = s[i][threadIdx.x];
}
extern "C" __global__ void orthogonalise(double *a, double *r, const double *q, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= n) return;
    double dot = 0;
    for (int i = 0; i < m; i++) dot += q[i * n + k] * a[i * n + j];
    r[k * n + j] = dot;
    for (int i = 0; i < m; i++) a[i * n + j] -= q[i * n + k] * dot;
}
