// For a compiler without the CUDA headers.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

DEVICE int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
DEVICE int *pointer = &table[1][2];
DEVICE float coefficients[4] = {0.5f, -1.25f, 3e10f};
__attribute__((constant)) double limits[2] = {1.0, -2.5};

DEVICE __attribute__((noinline)) long long power(int base, int exponent) {
    long long result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

GLOBAL void mixed(int n, const float *x, float *y, long long *z, const unsigned char *bytes) {
    SHARED static float tile[128];
    int lane = __nvvm_read_ptx_sreg_tid_x();
    int i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + lane;
    if (i >= n) return;
    tile[lane] = x[i] * coefficients[i & 3];
    __nvvm_bar_sync(0);
    float sum = 0;
    for (int k = 0; k < 128; ++k) sum += tile[k] > 0 ? tile[k] : -tile[k];
    y[i] = __builtin_sqrtf(sum) + (float)limits[i & 1];
    z[i] = power(bytes[i], table[i & 1][i % 3]) + *pointer;
    switch (bytes[i]) {
        case 0: y[0] = 1; break;
        case 1: y[1] = sum * 2; break;
        case 2: y[2] = (float)(double)sum / 3; break;
        case 3: z[3] = i / 7 + i % 5; break;
        case 4: z[4] = (unsigned)i >> 3; break;
        case 5: z[5] = __builtin_popcount(i) + __builtin_clz(i | 1); break;
        default: z[6] = (short)i * (signed char)i;
    }
}
