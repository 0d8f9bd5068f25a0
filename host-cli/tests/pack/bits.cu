// Bits: counts, reversals, fields, funnel shifts, permutations of bytes, three-input logic.
extern "C" __global__ void counted(const unsigned *in, const unsigned long long *wide, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    unsigned long long w = wide[i];
    out[i] = __popc(x) + __clz(x) * 2 + __ffs(x) * 3 + __popcll(w) + __clzll(w) * 5 + __ffsll(w) + (int)__brev(x) + (int)__brevll(w) + __fns(x, 0, 3);
}
extern "C" __global__ void shifted(const unsigned *a, const unsigned *b, unsigned *out) {
    int i = threadIdx.x;
    out[i] = __funnelshift_l(a[i], b[i], i) ^ __funnelshift_rc(a[i], b[i], i) ^ __byte_perm(a[i], b[i], 0x5140 + i % 4) ^ (a[i] & ~b[i] | a[i] >> 31);
    unsigned field, inserted;
    asm("bfe.u32 %0, %1, %2, 7;" : "=r"(field) : "r"(a[i]), "r"(i & 31));
    asm("bfi.b32 %0, %1, %2, %3, 5;" : "=r"(inserted) : "r"(a[i]), "r"(b[i]), "r"(i & 31));
    asm("lop3.b32 %0, %1, %2, %0, 0x96;" : "+r"(field) : "r"(a[i]), "r"(inserted));
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(inserted) : "r"(field), "r"(i & 31));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(field) : "r"(inserted & 31), "r"(i & 31));
    out[i] += field + inserted;
}
extern "C" __global__ void hashed(const unsigned *words, uint4 *digests) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll
    for (int k = 0; k < 32; k++) {
        unsigned f = k < 16 ? (b & c | ~b & d) : (d & b | ~d & c), g = k < 16 ? k : (5 * k + 1) % 16;
        unsigned t = a + f + words[(i * 16 + g) & 255] + 0x5a827999u * k;
        a = d; d = c; c = b;
        b += t << (7 + k % 4 * 5) | t >> (25 - k % 4 * 5);
    }
    digests[i] = make_uint4(a, b, c, d);
}
