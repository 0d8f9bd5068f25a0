// Surfaces: written and read, in one to three dimensions and in layers, with each rule at the border.
extern "C" __global__ void checker(cudaSurfaceObject_t s, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) surf2Dwrite((float)((x ^ y) & 1), s, x * 4, y);
}
extern "C" __global__ void invert(cudaSurfaceObject_t in, cudaSurfaceObject_t out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    uchar4 p = surf2Dread<uchar4>(in, x * 4, y, cudaBoundaryModeClamp);
    surf2Dwrite(make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, p.w), out, x * 4, y, cudaBoundaryModeZero);
}
extern "C" __global__ void line_surface(cudaSurfaceObject_t s, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    surf1Dwrite(i, s, i * 4, cudaBoundaryModeZero);
    out[i] = surf1Dread<int>(s, i * 4, cudaBoundaryModeClamp);
}
extern "C" __global__ void volume_surface(cudaSurfaceObject_t s, float2 *out) {
    int i = threadIdx.x;
    surf3Dwrite(make_float2(i, -i), s, i * 8, blockIdx.x, 0, cudaBoundaryModeZero);
    out[i] = surf3Dread<float2>(s, i * 8, blockIdx.x, 0, cudaBoundaryModeZero);
}
extern "C" __global__ void layer_surface(cudaSurfaceObject_t s, short4 *out, int layers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int l = 0; l < layers; l++) out[i] = surf2DLayeredread<short4>(s, threadIdx.x * 8, blockIdx.x, l, cudaBoundaryModeZero);
}
