// Half precision, textures, surfaces, matrices, asynchronous copies, video instructions, carries.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <mma.h>

extern "C" __global__ void halves(const __half *a, __half2 *b, float *out, const __nv_bfloat16 *c, __nv_bfloat162 *d) {
    int i = threadIdx.x;
    __half x = a[i], y = a[i + 1];
    __half2 p = b[i], q = b[i + 1];
    b[2] = __hfma2(p, q, __hadd2(p, q));
    b[3] = __hmul2(p, h2exp2(q));
    b[4] = __halves2half2(__hadd(x, y), __hfma(x, y, x));
    b[5] = __hmax2(p, q);
    b[6] = __hneg2(__habs2(p));
    out[0] = __half2float(x) + __hlt(x, y) + __low2float(p) + __hge(x, y) + (float)__hdiv(x, y);
    out[1] = (int)x + __half2int_rz(y) + __half2short_rn(x);
    out[2] = __heq2(p, q).x;
    out[3] = __hbeq2(p, q) + __hblt2(p, q);
    b[7] = __float22half2_rn(make_float2(out[4], out[5]));
    b[8].x = __int2half_rn(i);
    d[0] = __hfma2(d[1], d[2], d[3]);
    d[4] = __floats2bfloat162_rn(out[0], out[1]);
    out[4] = __bfloat162float(c[i]) + (float)(c[i] * c[i + 1]);
    atomicAdd(b + 9, p);
    atomicAdd((__half *)b, x);
    out[5] = (float)htanh(x) + (float)hrsqrt(y);
}

extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4 *out, int *iout) {
    float u = threadIdx.x * 0.25f, v = blockIdx.x * 0.5f;
    out[0] = tex1Dfetch<float4>(t, threadIdx.x);
    out[1] = tex1D<float4>(t, u);
    out[2] = tex2D<float4>(t, u, v);
    out[3] = tex3D<float4>(t, u, v, u);
    out[4] = tex2DLod<float4>(t, u, v, 1.0f);
    out[5] = tex2DGrad<float4>(t, u, v, make_float2(u, v), make_float2(v, u));
    out[6] = texCubemap<float4>(t, u, v, u);
    out[7] = tex2DLayered<float4>(t, u, v, 3);
    out[8] = tex2Dgather<float4>(t, u, v, 2);
    iout[0] = tex2D<int>(t, u, v) + surf2Dread<int>(s, 4, 5) + surf1Dread<short>(s, 6);
    surf2Dwrite(iout[1], s, 8, 9);
    surf1Dwrite(make_int2(1, 2), s, 8);
    surf3Dwrite(make_float4(u, v, u, v), s, 8, 9, 10, cudaBoundaryModeClamp);
}

extern "C" __global__ void matrices(const __half *a, const __half *b, float *c, const signed char *ia, int *ic) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> ga;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> gb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> gc;
    wmma::fill_fragment(gc, 0);
    wmma::load_matrix_sync(ga, ia, 16);
    wmma::load_matrix_sync(gb, ia + 256, 16);
    wmma::mma_sync(gc, ga, gb, gc);
    wmma::store_matrix_sync(ic, gc, 16, wmma::mem_row_major);
    unsigned r[4], d[2] = {0, 0};
    __shared__ __half tile[256];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    unsigned place = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%5,%6};" : "=r"(d[0]), "=r"(d[1]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(d[0]), "r"(d[1]));
    ic[0] = d[0] + d[1];
}

extern "C" __global__ void copies(const int4 *in, int *out) {
    __shared__ int4 tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1].x + __reduce_add_sync(~0u, out[0]) + __reduce_xor_sync(~0u, out[1]);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(in));
}

extern "C" __global__ void oddities(unsigned *out, const unsigned *in, double *d) {
    unsigned a = in[0], b = in[1], c = in[2], r, s;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.cc.u32 %1, %3, %4;\n\taddc.u32 %0, %0, 0;" : "=r"(r), "=r"(s) : "r"(a), "r"(b), "r"(c));
    out[0] = r + s;
    asm("sub.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, %3, %4;" : "=r"(r), "=r"(s) : "r"(a), "r"(b), "r"(c));
    out[1] = r + s;
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, 0;" : "=r"(r), "=r"(s) : "r"(a), "r"(b), "r"(c));
    out[2] = r + s;
    out[3] = __vadd4(a, b) + __vabsdiffu4(a, b) + __vsub2(a, b) + __vcmpgtu4(a, c) + __vmaxs2(a, c);
    asm("vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;" : "=r"(r) : "r"(a), "r"(b));
    asm("vabsdiff.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(s) : "r"(a), "r"(b), "r"(c));
    out[4] = r + s;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(s) : "r"(a), "r"(b));
    out[5] = r + s;
    asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(s) : "r"(a));
    out[6] = r + s;
    asm("{ .reg .pred p; testp.normal.f64 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "d"(d[0]));
    asm("cnot.b32 %0, %1;" : "=r"(s) : "r"(a));
    out[7] = r + s;
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    asm("set.lt.u32.f64 %0, %1, %2;" : "=r"(s) : "d"(d[0]), "d"(d[1]));
    out[8] = r + s;
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(out + 9), "r"(a) : "memory");
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(in) : "memory");
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + 10), "r"(r) : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    asm volatile("bar.arrive 2, 64;" ::: "memory");
}
