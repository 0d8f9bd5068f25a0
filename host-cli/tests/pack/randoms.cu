// Random numbers: xorshift with state in memory, a 64-bit congruence, and a count of hits.
struct State { unsigned x, y, z, w, v, d; };
__device__ unsigned next(State &s) {
    unsigned t = s.x ^ s.x >> 2;
    s.x = s.y; s.y = s.z; s.z = s.w; s.w = s.v;
    s.v = s.v ^ s.v << 4 ^ t ^ t << 1;
    s.d += 362437;
    return s.v + s.d;
}
extern "C" __global__ void draw(State *states, float *out, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    State s = states[i];
    float sum = 0;
    for (int k = 0; k < each; k++) sum += next(s) * 2.3283064e-10f;
    states[i] = s;
    out[i] = sum;
}
extern "C" __global__ void hits(unsigned long long seed, unsigned long long *count, int tries) {
    unsigned long long s = seed + blockIdx.x * blockDim.x + threadIdx.x;
    int inside = 0;
    for (int k = 0; k < tries; k++) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        float x = (unsigned)(s >> 40) * (1.0f / 16777216);
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        float y = (unsigned)(s >> 40) * (1.0f / 16777216);
        inside += x * x + y * y < 1.0f;
    }
    for (int m = 16; m; m /= 2) inside += __shfl_xor_sync(~0u, inside, m);
    if ((threadIdx.x & 31) == 0) atomicAdd(count, (unsigned long long)inside);
}
extern "C" __global__ void normal_pairs(const unsigned *bits, float2 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float u = (bits[2 * i] | 1) * 2.3283064e-10f, v = bits[2 * i + 1] * 2.3283064e-10f, s, c;
    sincospif(2 * v, &s, &c);
    float r = sqrtf(-2 * logf(u));
    out[i] = make_float2(r * s, r * c);
}
