// mma.sync on every type that machines since compute capability 8.0 have.
__device__ unsigned w(const unsigned *p, int k) { return p[k * 32 + (threadIdx.x & 31)]; }
#define F4(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define R4(d) "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define ABI "r"(w(a, 0)), "r"(w(a, 1)), "r"(w(a, 2)), "r"(w(a, 3)), "r"(w(b, 0)), "r"(w(b, 1))
#define FOUR "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
extern "C" __global__ void floating(const unsigned *a, const unsigned *b, float *out) {
    float d[4] = {1, 2, 3, 4};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " FOUR : F4(d) : ABI);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " FOUR : F4(d) : ABI);
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : F4(d) : "r"(w(a, 0)), "r"(w(a, 1)), "r"(w(b, 0)));
    asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : F4(d) : "r"(w(a, 0)), "r"(w(a, 1)), "r"(w(b, 0)));
    for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = d[k];
}
extern "C" __global__ void halves(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned d[2] = {0x3c003c00, 0x38003800};
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" : "+r"(d[0]), "+r"(d[1]) : ABI);
    out[2 * threadIdx.x] = d[0];
    out[2 * threadIdx.x + 1] = d[1];
}
extern "C" __global__ void integers(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned d[4] = {1, 2, 3, 4};
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " FOUR : R4(d) : ABI);
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 " FOUR : R4(d) : ABI);
    asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 " FOUR : R4(d) : ABI);
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : R4(d) : "r"(w(a, 0)), "r"(w(a, 1)), "r"(w(b, 0)));
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " FOUR : R4(d) : ABI);
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc " FOUR : R4(d) : ABI);
    for (int k = 0; k < 4; k++) out[4 * threadIdx.x + k] = d[k];
}
extern "C" __global__ void doubles(const double *a, const double *b, double *out) {
    double d[2] = {0.5, 0.25};
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a[threadIdx.x]), "d"(b[threadIdx.x]));
    out[2 * threadIdx.x] = d[0];
    out[2 * threadIdx.x + 1] = d[1];
}
