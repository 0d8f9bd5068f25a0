// Integers: division of every width, high products, carries of 128 bits.
extern "C" __global__ void divided(const int *a, const unsigned *b, const long long *c, const unsigned long long *d, long long *out) {
    int i = threadIdx.x;
    int x = a[i]; unsigned y = b[i] | 1; long long z = c[i]; unsigned long long w = d[i] | 1;
    out[i] = x / (int)y + x % 7 + y / 10 + y % 3 + z / (long long)w + z % 1000 + (long long)(w / 12345) + (short)x / 3 + (char)x % 5;
}
extern "C" __global__ void high(const int *a, const long long *b, long long *out) {
    int i = threadIdx.x;
    out[i] = __mulhi(a[i], a[i + 1]) + __umulhi(a[i], a[i + 1]) + __mul64hi(b[i], b[i + 1]) + __umul64hi(b[i], b[i + 1]) + __mul24(a[i], a[i + 1]) + __hadd(a[i], a[i + 1]) + __urhadd(a[i], 5);
}
extern "C" __global__ void carries(const ulonglong2 *a, const ulonglong2 *b, ulonglong2 *out) {
    int i = threadIdx.x;
    unsigned __int128 x = (unsigned __int128)a[i].y << 64 | a[i].x, y = (unsigned __int128)b[i].y << 64 | b[i].x, z = x * y + (x << (i & 63)) - (y >> 3);
    out[i] = make_ulonglong2((unsigned long long)z, (unsigned long long)(z >> 64));
    unsigned low, highw;
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %4, 0;" : "=r"(low), "=r"(highw) : "r"((unsigned)a[i].x), "r"((unsigned)b[i].x), "r"(i));
    asm("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.u32 %1, %2, %3, %1;" : "+r"(low), "+r"(highw) : "r"((unsigned)a[i].y), "r"(i));
    asm("sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, 0;" : "+r"(low), "+r"(highw) : "r"(i));
    out[i].x ^= (unsigned long long)highw << 32 | low;
}
