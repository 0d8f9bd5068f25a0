// mma.sync on eight-bit floating point.
extern "C" __global__ void fp8(const unsigned *a, const unsigned *b, float *out) {
    float d[4] = {};
    int i = threadIdx.x;
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[i]), "r"(a[i + 32]), "r"(a[i + 64]), "r"(a[i + 96]), "r"(b[i]), "r"(b[i + 32]));
    for (int k = 0; k < 4; k++) out[4 * i + k] = d[k];
}
