// Learning: k-means, layers forward and backward, a softmax, the nearest neighbours.
extern "C" __global__ void assign(const float *features, const float *clusters, int *membership, int points, int k, int dimensions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points) return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < k; c++) {
        float d = 0;
        for (int f = 0; f < dimensions; f++) {
            float x = features[f * points + i] - clusters[c * dimensions + f];
            d += x * x;
        }
        if (d < least) { least = d; best = c; }
    }
    membership[i] = best;
}
extern "C" __global__ void forward(const float *in, const float *weights, float *partial, int hidden) {
    __shared__ float inputs[16], products[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    if (tx == 0) inputs[ty] = in[blockIdx.y * 16 + ty];
    __syncthreads();
    products[ty][tx] = weights[(blockIdx.y * 16 + ty) * hidden + tx] * inputs[ty];
    for (int s = 1; s < 16; s *= 2) {
        __syncthreads();
        if (ty % (2 * s) == 0) products[ty][tx] += products[ty + s][tx];
    }
    if (ty == 0) partial[blockIdx.y * 16 + tx] = 1.0f / (1.0f + expf(-products[0][tx]));
}
extern "C" __global__ void adjust(const float *delta, int hidden, const float *layer, float *weights, float *old) {
    int at = (blockIdx.y * 16 + threadIdx.y + 1) * (hidden + 1) + threadIdx.x + 1;
    float step = 0.3f * delta[threadIdx.x + 1] * layer[threadIdx.y + 1] + 0.3f * old[at];
    weights[at] += step;
    old[at] = step;
}
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float parts[4];
    const float *row = in + blockIdx.x * columns;
    float most = -3.4e38f, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, row[c]);
    for (int m = 16; m; m /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, m));
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++) most = fmaxf(most, parts[w]);
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += __expf(row[c] - most);
    for (int m = 16; m; m /= 2) sum += __shfl_xor_sync(~0u, sum, m);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++) sum += parts[w];
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = __expf(row[c] - most) / sum;
}
struct Place { float latitude, longitude; };
extern "C" __global__ void distances(const Place *places, float *out, int n, float latitude, float longitude) {
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i < n) out[i] = sqrtf((latitude - places[i].latitude) * (latitude - places[i].latitude) + (longitude - places[i].longitude) * (longitude - places[i].longitude));
}
