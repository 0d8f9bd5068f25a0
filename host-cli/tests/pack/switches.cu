// A branch with many targets, nested loops with breaks, short circuits.
extern "C" __global__ void interpreter(const unsigned char *code, const float *in, float *out, int length) {
    float a = in[threadIdx.x], b = threadIdx.x;
    for (int pc = 0; pc < length && pc < 64; pc++) {
        switch (code[(pc + threadIdx.x) & 255] % 12) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= b; break;
        case 3: b = a; break;
        case 4: a = fmaxf(a, b); break;
        case 5: a = -a; break;
        case 6: b += 1; break;
        case 7: a = sqrtf(fabsf(a)); break;
        case 8: if (a > b) pc++; break;
        case 9: b *= 0.5f; break;
        case 10: a = 1; break;
        default: pc += 2;
        }
    }
    out[threadIdx.x] = a + b;
}
extern "C" __global__ void nested(const int *in, int *out, int n) {
    int found = -1;
    for (int i = 0; i < n && found < 0; i++) {
        for (int j = i + 1; j < min(n, i + 8); j++) {
            if (in[i] + in[j] == (int)threadIdx.x * 8) {
                found = i * n + j;
                break;
            }
            if (in[j] == 0 && j > 5) goto out_of_both;
        }
    }
out_of_both:
    out[threadIdx.x] = found;
}
