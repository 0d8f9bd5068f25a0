// Reconstruction and coding: sums of phases, a grid of samples, sums of absolute differences.
struct Sample { float x, y, z, value; };
__constant__ Sample samples[64];
extern "C" __global__ void phases(const float *x, const float *y, const float *z, float *re, float *im, int n, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = 0, m = 0;
    for (int k = 0; k < min(count, 64); k++) {
        float angle = 6.2831853f * (samples[k].x * x[i] + samples[k].y * y[i] + samples[k].z * z[i]);
        r += samples[k].value * __cosf(angle);
        m += samples[k].value * __sinf(angle);
    }
    re[i] += r;
    im[i] += m;
}
extern "C" __global__ void deposit(const Sample *in, float2 *grid, int n, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Sample s = in[i];
    int cx = min(max((int)(s.x * side), 0), side - 1), cy = min(max((int)(s.y * side), 0), side - 1);
    float w = expf(-(s.x * s.x + s.y * s.y));
    atomicAdd(&grid[cy * side + cx].x, w * s.value);
    atomicAdd(&grid[cy * side + cx].y, w);
}
extern "C" __global__ void block_differences(const unsigned char *frame, const unsigned char *reference, unsigned short *sums, int width) {
    int bx = blockIdx.x * 4, by = blockIdx.y * 4, dx = threadIdx.x % 8, dy = threadIdx.x / 8 % 8;
    unsigned sum = 0;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) sum = __usad(frame[(by + y) * width + bx + x], reference[(by + y + dy) * width + bx + x + dx], sum);
    sums[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x % 64] = sum;
}
