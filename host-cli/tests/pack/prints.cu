// printf with every kind of argument.
#include <cstdio>
extern "C" __global__ void hello() {
    printf("block %d, thread %u\n", blockIdx.x, threadIdx.x);
}
extern "C" __global__ void told(int n, double x, const char *unused) {
    if (threadIdx.x == 0) {
        printf("n=%d %5u %-6x|%o %c\n", n, (unsigned)n, n, n, 'q');
        printf("x=%f %e %g %.3f %10.2f\n", x, x, x, x, (double)(float)x);
        printf("long %lld %llu %p %s %%\n", -5ll, 1ull << 63, (void *)0, "text");
    }
}
