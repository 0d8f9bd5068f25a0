// Ordinary kernels: arithmetic, control flow, shared memory, calls, printf, atomics.
#include <cassert>
#include <cstdio>

__constant__ float weights[16] = {1.0f, 2.0f, 3.5f, -4.0f};
__constant__ int2 pairs[2] = {{1, 2}, {3, 4}};
__device__ double doubles[3] = {1.0, 2.5, -3.0};
__device__ unsigned char bytes[5] = {1, 2, 3};
__device__ int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ int counter;
__device__ int *pointer = &table[1][1];
__device__ int *volatile pointers[2] = {&counter, &table[0][2]};
__device__ const char *text = "hello";

extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void __launch_bounds__(256, 2) tile(const float *a, const float *b, float *c, int n) {
    __shared__ float sa[16][17], sb[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        sa[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
        sb[y][x] = b[(k + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += sa[y][i] * sb[i][x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}

extern "C" __global__ void integers(const int *in, const long long *wide, unsigned *out, long long *out64) {
    extern __shared__ int dynamic[];
    int i = threadIdx.x;
    int v = in[i];
    unsigned u = in[i + 32];
    long long w = wide[i];
    dynamic[i] = v;
    __syncthreads();
    out[0] = __popc(u) + __clz(v) + __ffs(v) + __brev(u);
    out[1] = __byte_perm(u, v, 0x1234) + __funnelshift_l(u, v, 7) + __funnelshift_r(u, v, u);
    out[2] = __mulhi(v, 77) + __umulhi(u, 99) + __mul24(v, 3) + __umul24(u, 5);
    out[3] = __sad(v, 3, u) + __usad(u, 3, u) + abs(v) + min(v, 7) + max(u, 9u);
    out[4] = v / 7 + u / 9 + v % 11 + u % (u + 1) + v / (v + 5);
    out[5] = (u >> 3) & 0x1f ^ (v << 5) | ~v;
    out[6] = dynamic[(i + 1) & 31] + counter + bytes[i % 5] + table[i & 1][i % 3];
    out[7] = __dp4a(v, (int)u, 5) + __dp2a_lo(make_short2(v, u), make_char4(v, u, 3, 4), 7);
    out64[0] = w * wide[i + 1] + __popcll(w) + __clzll(w) + __brevll(w) + __mul64hi(w, 3);
    out64[1] = w / 10 + w % 7 + (w >> 3) + (w << u) + llabs(w) + min(w, 5ll);
    out64[2] = (long long)v * (long long)(int)u + (unsigned long long)u * u;
    out64[3] = *pointer + **pointers + weights[i & 15] + pairs[i & 1].x + doubles[i % 3];
    __uint128_t big = (__uint128_t)w * (unsigned long long)wide[i + 2] + (__uint128_t)w;
    out64[4] = (long long)(big >> 64);
    out64[5] = (long long)big;
    out[8] = (short)v * (short)u + (unsigned short)v;
    out[9] = (signed char)v + (unsigned char)u;
}

extern "C" __global__ void floats(const float *in, const double *din, float *out, double *dout, int *iout) {
    int i = threadIdx.x;
    float a = in[i], b = in[i + 1], c = in[i + 2];
    double d = din[i], e = din[i + 1], f = din[i + 2];
    out[0] = a + b; out[1] = a - b; out[2] = a * b; out[3] = a / b; out[4] = fmaf(a, b, c);
    out[5] = sqrtf(a) + rsqrtf(b) + __frcp_rn(c) + __fsqrt_rz(a) + __fdividef(a, b);
    out[6] = __sinf(a) + __cosf(b) + exp2f(c) + __log2f(a) + __tanf(b) + __expf(a) + __powf(a, b);
    out[7] = fminf(a, b) + fmaxf(b, c) + fabsf(a) + copysignf(a, b) + floorf(a) + ceilf(b) + truncf(c) + rintf(a);
    out[8] = __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, c) + __saturatef(a);
    out[9] = isnan(a) + isinf(b) + isfinite(c) + signbit(a) + sinf(a) + tanhf(b) + powf(a, c) + fmodf(a, b);
    dout[0] = d + e; dout[1] = d * e - f; dout[2] = d / e; dout[3] = sqrt(d); dout[4] = fma(d, e, f);
    dout[5] = rsqrt(d) + exp(e) + fmin(d, e) + fmax(e, f) + fabs(d) + floor(e) + copysign(d, e);
    dout[6] = __dadd_ru(d, e) + __dmul_rz(d, e) + __drcp_rn(d) + sin(e) + pow(d, e);
    iout[0] = (int)a + (unsigned)b + __float2int_rn(c) + __float2int_ru(a) + __double2int_rd(d) + (short)a;
    iout[1] = __float_as_int(a) + __double2hiint(d) + __double2loint(e) + (int)(long long)d + (signed char)b;
    out[10] = (float)i + (float)(unsigned)iout[2] + (float)d + (float)(long long)i + (float)(short)i + __int2float_rz(i);
    dout[7] = (double)a + (double)i + (double)(unsigned long long)i + __hiloint2double(i, i + 1);
    iout[3] = (a < b) && (b >= c) || (d != e);
    iout[4] = (a < b ? 3 : 4) + (a != a ? 1 : 0);
}

extern "C" __global__ void warps(int *data, unsigned long long *wide) {
    int lane = threadIdx.x & 31;
    int v = data[threadIdx.x];
    for (int offset = 16; offset; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
    v += __shfl_up_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 2) + __shfl_sync(~0u, v, 0);
    unsigned ballot = __ballot_sync(~0u, v > 3);
    if (__any_sync(~0u, v == 1)) v++;
    if (__all_sync(~0u, v == 2)) v--;
    if (__uni_sync(~0u, v)) v += 7;
    v += __match_any_sync(~0u, v);
    int pred;
    v += __match_all_sync(~0u, v, &pred) + pred;
    v += __match_any_sync(~0u, wide[lane]);
    v += __activemask() + __popc(ballot) + __fns(ballot, 0, 3);
    __syncwarp();
    unsigned lt, clk, hi;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clk));
    asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(hi));
    wide[1] = clock64() + lt + clk + hi;
    data[threadIdx.x] = v + __syncthreads_count(v > 2) + __syncthreads_and(v) + __syncthreads_or(lane);
    __threadfence(); __threadfence_block(); __threadfence_system();
    __nanosleep(100);
}

extern "C" __global__ void atomics(int *g, unsigned *u, float *f, double *d, unsigned long long *w) {
    __shared__ int s[32];
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[g[0] & 31], 1);
    int old = atomicAdd(g, 1) + atomicSub(g + 1, 2) + atomicExch(g + 2, 3) + atomicMin(g + 3, 4) + atomicMax(g + 4, 5);
    old += atomicCAS(g + 5, 6, 7) + atomicAnd(g + 6, 8) + atomicOr(g + 7, 9) + atomicXor(g + 8, 10);
    old += atomicInc(u, 11) + atomicDec(u + 1, 12) + atomicMax(u + 2, 5u);
    atomicAdd(f, 1.0f); float r = atomicAdd(f + 1, 2.0f);
    atomicAdd(d, 1.0); atomicAdd(w, 5ull); atomicMax(w + 1, 7ull); atomicCAS(w + 2, 1ull, 2ull);
    atomicAdd(g + 9, 1); atomicOr(u + 9, 3u); atomicMin(g + 10, old); atomicAdd_system(g + 11, 1); atomicAdd_block(g + 12, 1);
    g[20] = old + (int)r + s[threadIdx.x];
}

__device__ __noinline__ int recursive(int n, float *trace) {
    trace[n] = n;
    if (n < 2) return 1;
    return n * recursive(n - 1, trace) + recursive(n - 2, trace);
}
__device__ __noinline__ float3 triple(float3 a, double b) { return make_float3(a.z, a.x + (float)b, a.y); }
typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ Operation operations[2] = {plus, minus};

extern "C" __global__ void calls(int *out, float *trace, int which) {
    float3 t = triple(make_float3(trace[0], trace[1], trace[2]), trace[3]);
    out[0] = recursive(out[1], trace) + operations[which & 1](out[2], out[3]);
    trace[4] = t.x + t.y + t.z;
    printf("%d %f %s\n", out[0], trace[4], text);
    if (which > 100) __trap();
    if (which > 101) asm volatile("brkpt;");
    if (which > 102) asm volatile("exit;");
    assert(0 == 0 || which);
}

extern "C" __global__ void switched(int *out, int which) {
    int local[32];
    for (int i = 0; i < 32; ++i) local[i] = out[i] * 3;
    switch (which) {
        case 0: out[0] = local[out[40] & 31]; break;
        case 1: out[1] = local[out[41] & 31] * 5; __syncthreads(); break;
        case 2: out[2] = 17; break;
        case 3: out[3] = out[0] + 5; break;
        case 4: out[4] = out[0] * out[1]; break;
        case 5: out[5] = out[3] - 1; break;
        case 6: out[6] = out[3] ^ out[4]; break;
        default: out[7] = local[which & 31];
    }
}

extern "C" __global__ void vectors(const float4 *in, float4 *out, const double2 *din, double2 *dout, const uchar4 *c, short2 *s) {
    int i = threadIdx.x;
    float4 v = in[i];
    v.x += v.y; v.z *= v.w;
    out[i] = v;
    double2 d = __ldg(din + i);
    d.x += d.y;
    dout[i] = d;
    uchar4 u = c[i];
    s[i] = make_short2(u.x + u.y, u.z - u.w);
    volatile int *p = (volatile int *)out;
    p[100] = p[101] + __ldcg((int *)in) + __ldcs((int *)in + 1) + __ldcv((int *)in + 2) + __ldlu((int *)in + 3);
    __stcg((int *)out + 5, 6); __stcs((int *)out + 7, 8); __stwt((int *)out + 9, 10); __stwb((int *)out + 9, 10);
    int shared = __isShared(in) + __isGlobal(in) + __isLocal(in) + __isConstant(in);
    p[102] = shared;
    int x;
    asm volatile("{ .reg .pred p; .reg .b32 t<3>; setp.eq.s32 p, %1, 3; selp.b32 t0, 1, 2, p; add.s32 %0, t0, 5; }" : "=r"(x) : "r"(i));
    p[103] = x;
}
