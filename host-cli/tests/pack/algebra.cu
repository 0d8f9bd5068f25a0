// Algebra in the style of compiler benchmarks: products with vectors, transposed too, updates of ranks.
#define AT blockIdx.x * blockDim.x + threadIdx.x
template <typename T> __global__ void row_products(const T *a, const T *x, T *y, int rows, int columns) {
    int i = AT;
    if (i < rows) {
        T sum = 0;
        for (int j = 0; j < columns; j++) sum += a[i * columns + j] * x[j];
        y[i] = sum;
    }
}
template <typename T> __global__ void column_products(const T *a, const T *x, T *y, int rows, int columns) {
    int j = AT;
    if (j < columns) {
        y[j] = 0;
        for (int i = 0; i < rows; i++) y[j] += a[i * columns + j] * x[i];
    }
}
template <typename T> __global__ void update(T *a, const T *u, const T *v, const T *x, T *y, T alpha, T beta, int n) {
    int j = AT, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    a[i * n + j] += u[i] * v[j];
    y[j] = alpha * x[j] + beta * y[j];
}
template <typename T> __global__ void symmetric(const T *a, T *c, T alpha, T beta, int n, int m) {
    int j = AT, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j > i) return;
    T sum = c[i * n + j] * beta;
    for (int k = 0; k < m; k++) sum += alpha * a[i * m + k] * a[j * m + k];
    c[i * n + j] = sum;
}
#define ALL(T) \
    template __global__ void row_products<T>(const T *, const T *, T *, int, int); \
    template __global__ void column_products<T>(const T *, const T *, T *, int, int); \
    template __global__ void update<T>(T *, const T *, const T *, const T *, T *, T, T, int); \
    template __global__ void symmetric<T>(const T *, T *, T, T, int, int);
ALL(float)
ALL(double)
ALL(int)
