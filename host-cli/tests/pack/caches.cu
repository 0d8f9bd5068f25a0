// Hints for caches: loads and stores that name a cache, policies, prefetches.
extern "C" __global__ void hinted(const float *in, float *out, const float4 *vin, float4 *vout) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = __ldg(in + i) + __ldcg(in + i) + __ldca(in + i) + __ldcs(in + i) + __ldlu(in + i) + __ldcv(in + i);
    __stwb(out + i, v);
    __stcg(out + i, v);
    __stcs(out + i, v);
    __stwt(out + i, v);
    __stcs(vout + i, __ldcs(vin + i));
}
extern "C" __global__ void policies(const float *in, float *out, const int4 *vin, int4 *vout) {
    unsigned long long keep, drop, part;
    int i = threadIdx.x;
    float v, w;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
    asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(drop));
    asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], 4096, 8192;" : "=l"(part) : "l"(in));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(in + i), "l"(keep));
    asm volatile("ld.global.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(w) : "l"(in + i));
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out + i), "f"(v + w), "l"(drop));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i));
    asm volatile("prefetch.global.L1 [%0];" ::"l"(in + i));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(in));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + 512));
    int4 q;
    asm volatile("ld.global.nc.L1::evict_last.L2::cache_hint.v4.s32 {%0, %1, %2, %3}, [%4], %5;" : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(vin + i), "l"(part));
    vout[i] = q;
}
