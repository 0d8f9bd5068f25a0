// Arrays of a thread that lie in local memory, and calls that take their addresses.
__device__ __noinline__ int sum(const int *values, int n) {
    int s = 0;
    for (int k = 0; k < n; k++) s += values[k];
    return s;
}
extern "C" __global__ void indexed(const int *in, int *out, int n) {
    int values[32];
    for (int k = 0; k < 32; k++) values[k] = in[k] * k;
    int at = in[threadIdx.x] & 31;
    values[at] += threadIdx.x;
    out[threadIdx.x] = sum(values, (n & 31) + 1) + values[31 - at];
}
extern "C" __global__ void stacked(const int *starts, int *depths, int nodes) {
    int stack[24], top = 0, depth = 0;
    stack[top++] = starts[threadIdx.x] % nodes;
    while (top > 0) {
        int node = stack[--top];
        depth++;
        if (2 * node + 2 < min(nodes, 64) && top < 22) {
            stack[top++] = 2 * node + 1;
            stack[top++] = 2 * node + 2;
        }
    }
    depths[threadIdx.x] = depth;
}
