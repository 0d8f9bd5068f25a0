// Sparse matrices times vectors: a thread, a warp for each row, padded rows, coordinates.
extern "C" __global__ void row_a_thread(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int k = offsets[r]; k < offsets[r + 1]; k++) sum += values[k] * __ldg(&x[columns[k]]);
    y[r] = sum;
}
extern "C" __global__ void row_a_warp(const int *offsets, const int *columns, const double *values, const double *x, double *y, int rows) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    double sum = 0;
    for (int k = offsets[r] + lane; k < offsets[r + 1]; k += 32) sum += values[k] * x[columns[k]];
    for (int m = 16; m; m /= 2) sum += __shfl_down_sync(~0u, sum, m);
    if (lane == 0) y[r] = sum;
}
extern "C" __global__ void padded(const int *columns, const float *values, const float *x, float *y, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = columns[k * rows + r];
        if (c >= 0) sum += values[k * rows + r] * x[c];
    }
    y[r] = sum;
}
extern "C" __global__ void coordinates(const int *rows, const int *columns, const float *values, const float *x, float *y, int entries) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < entries; k += blockDim.x * gridDim.x) atomicAdd(&y[rows[k]], values[k] * x[columns[k]]);
}
