// Calls through pointers: a table in constant memory, in global memory, and a chosen one.
typedef float (*Step)(float, float);
__device__ __noinline__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
__device__ __noinline__ float larger(float a, float b) { return fmaxf(a, b); }
__constant__ Step constant_table[3] = {add, multiply, larger};
__device__ Step table[2] = {larger, add};
extern "C" __global__ void through_constant(const int *which, float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = constant_table[(unsigned)which[i] % 3](values[i], 2.0f);
}
extern "C" __global__ void through_global(float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = table[i & 1](values[i], 2.0f);
}
extern "C" __global__ void through_choice(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Step step = i < n ? add : multiply;
    values[i] = step(values[i], 3.0f);
}
