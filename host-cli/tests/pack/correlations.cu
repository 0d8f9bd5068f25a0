// Statistics: means and deviations of columns, correlations, pairs of angles in bins.
extern "C" __global__ void means(double *mean, double *deviation, const double *data, int columns, int rows) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    double sum = 0, squares = 0;
    for (int i = 0; i < rows; i++) sum += data[i * columns + j];
    sum /= rows;
    for (int i = 0; i < rows; i++) squares += (data[i * columns + j] - sum) * (data[i * columns + j] - sum);
    squares = sqrt(squares / rows);
    mean[j] = sum;
    deviation[j] = squares <= 0.005 ? 1.0 : squares;
}
extern "C" __global__ void correlate(float *matrix, const float *data, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m - 1) return;
    matrix[j * m + j] = 1;
    for (int k = j + 1; k < min(m, j + 9); k++) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += data[i * m + j] * data[i * m + k];
        matrix[j * m + k] = matrix[k * m + j] = sum;
    }
}
__constant__ float borders[21];
extern "C" __global__ void angles(const float3 *a, const float3 *b, long long *bins, int n) {
    __shared__ unsigned local[20];
    if (threadIdx.x < 20) local[threadIdx.x] = 0;
    __syncthreads();
    float3 p = a[threadIdx.x];
    for (int k = 0; k < n; k++) {
        float3 q = b[k];
        float dot = p.x * q.x + p.y * q.y + p.z * q.z;
        int low = 0, high = 20;
        while (high > low + 1) {
            int middle = (low + high) / 2;
            if (dot >= borders[middle]) high = middle;
            else low = middle;
        }
        atomicAdd(&local[low], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 20) atomicAdd((unsigned long long *)&bins[threadIdx.x], (unsigned long long)local[threadIdx.x]);
}
