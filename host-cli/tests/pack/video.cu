// SIMD within a word: the intrinsics, and the video instructions.
extern "C" __global__ void intrinsics(const unsigned *a, const unsigned *b, unsigned *out) {
    int i = threadIdx.x;
    unsigned x = a[i], y = b[i];
    out[i] = __vabsdiffu4(x, y) ^ __vabsdiffs2(x, y) ^ __vadd2(x, y) ^ __vsub4(x, y) ^ __vavgu4(x, y) ^ __vmaxs2(x, y) ^ __vminu4(x, y);
    out[i] ^= __vcmpgtu4(x, y) ^ __vseteq2(x, y) ^ __vsads4(x, y) ^ __vsadu2(x, y) ^ __vneg4(x) ^ __vabs2(y) ^ __vaddss4(x, y) ^ __vhaddu4(x, y);
    out[i] += __sad(x, y, 1) + __usad(x, y, 2);
}
extern "C" __global__ void dots(const int *a, const int *b, int *out) {
    int i = threadIdx.x, sum = 0;
    sum = __dp4a(a[i], b[i], sum);
    sum = __dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)sum);
    sum = __dp2a_lo(a[i], b[i], sum);
    out[i] = __dp2a_hi((unsigned)a[i], (unsigned)b[i], (unsigned)sum);
}
extern "C" __global__ void instructions(const unsigned *a, const unsigned *b, unsigned *out) {
    int i = threadIdx.x;
    unsigned x = a[i], y = b[i], r, s = 0;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(7)); s += r;
    asm("vabsdiff2.u32.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(7)); s += r;
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(7)); s += r;
    asm("vadd.u32.u32.u32.sat %0, %1.b0, %2.h1;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vsub.s32.u32.s32.max %0, %1.b3, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s += r;
    asm("vmad.u32.u32.u32 %0, %1.b2, %2.h0, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s += r;
    asm("vset.u32.u32.lt %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vshl.u32.u32.u32.clamp %0, %1, %2.b0;" : "=r"(r) : "r"(x), "r"(y)); s += r;
    asm("vmin4.u32.u32.u32 %0.b310, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(s)); s += r;
    out[i] = s;
}
