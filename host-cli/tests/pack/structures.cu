// Structures as parameters of kernels and of functions, and as results.
struct Small { char c; short s; int i; };
struct Large { double d[4]; float2 f; unsigned char b[5]; };
struct __align__(16) Aligned { float x, y, z; };
struct Image { float *data; int width, height; size_t pitch; };
__device__ __noinline__ Large scaled(Large l, double by) {
    for (int k = 0; k < 4; k++) l.d[k] *= by;
    l.b[4] += 1;
    return l;
}
__device__ __noinline__ Small swapped(Small s) {
    Small r = {(char)s.s, (short)s.i, s.c};
    return r;
}
__device__ __noinline__ Aligned cross(Aligned a, Aligned b) {
    Aligned r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return r;
}
extern "C" __global__ void by_value(Small s, Large l, Aligned a, double *out) {
    Small t = swapped(s);
    Large m = scaled(l, threadIdx.x);
    Aligned c = cross(a, Aligned{1, 2, 3});
    out[threadIdx.x] = t.c + t.s + t.i + m.d[threadIdx.x & 3] + m.f.y + m.b[4] + c.x + c.y + c.z;
}
extern "C" __global__ void image_rows(Image in, Image out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= in.width || y >= in.height) return;
    const float *row = (const float *)((const char *)in.data + y * in.pitch);
    ((float *)((char *)out.data + y * out.pitch))[x] = row[x] * 2;
}
extern "C" __global__ void many(char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g, unsigned long long h, float i, double j, bool k, char3 l, short4 m, longlong2 o, double *out) {
    out[threadIdx.x] = a + b + c + d + e + f + g + h + i + j + k + l.z + m.w + o.y;
}
