// Assertions, traps that are not reached, and an unreachable place.
#include <cassert>
extern "C" __global__ void checked(const int *values, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(values[i] >= 0 && "no negative values");
    out[i] = values[i] * 2;
}
extern "C" __global__ void trapped(unsigned *out) {
    if (threadIdx.x > 5000) __trap();
    if (threadIdx.x > 6000) asm("exit;");
    if (threadIdx.x > 7000) __brkpt();
    switch (threadIdx.x & 3) {
    case 0: out[threadIdx.x] = 1; break;
    case 1: case 2: case 3: out[threadIdx.x] = 2; break;
    default: __builtin_unreachable();
    }
}
