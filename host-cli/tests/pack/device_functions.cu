// Functions that are not inlined: in another order, that call each other, with many parameters, weak ones.
__device__ __noinline__ float inner(float x);
__device__ __noinline__ float outer(float x, int depth, const float *table, float4 v) {
    for (int k = 0; k < (depth & 3); k++) x = inner(x) + table[k] + v.w;
    return x;
}
__device__ __noinline__ float inner(float x) { return x > 1 ? x * 0.5f : x + 0.25f; }
template <typename T> __device__ __noinline__ void exchange(T &a, T &b) {
    T kept = a;
    a = b;
    b = kept;
}
__device__ __noinline__ void nothing() {}
extern "C" __global__ void calls(float *values, const float *table, int depth) {
    float a = values[threadIdx.x], b = threadIdx.x;
    nothing();
    if (a > b) exchange(a, b);
    values[threadIdx.x] = outer(a, depth, table, make_float4(b, b, b, 1)) + outer(b, 1, table, make_float4(0, 0, 0, 2));
}
