// What the kernels need from CUDA, spelled for the two compilers that build them.
//
// nvcc brings its own headers; clang is run without any (`-nocudainc -nocudalib`), so the handful
// of qualifiers, special registers and intrinsics below is all it gets. Kernels use these names
// only, so that both compilers see the same program.
//
// `*_rn` functions are single IEEE operations that neither compiler may contract or reorder:
// kernels whose result is compared bit by bit use them.

#ifndef STRATA_CUDA_H
#define STRATA_CUDA_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#if defined(__clang__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))

#define TID_X ((int)__nvvm_read_ptx_sreg_tid_x())
#define TID_Y ((int)__nvvm_read_ptx_sreg_tid_y())
#define CTAID_X ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define CTAID_Y ((int)__nvvm_read_ptx_sreg_ctaid_y())
#define NTID_X ((int)__nvvm_read_ptx_sreg_ntid_x())
#define NTID_Y ((int)__nvvm_read_ptx_sreg_ntid_y())
#define NCTAID_X ((int)__nvvm_read_ptx_sreg_nctaid_x())

#define BARRIER() __nvvm_bar_sync(0)

struct __attribute__((aligned(16))) Float4 {
    float x, y, z, w;
};

#define FULL_WARP 0xffffffffu

__device__ __forceinline__ float shuffle_down(float value, int delta) {
    return __nvvm_shfl_sync_down_f32(FULL_WARP, value, delta, 31);
}
__device__ __forceinline__ float shuffle_xor(float value, int mask) {
    return __nvvm_shfl_sync_bfly_f32(FULL_WARP, value, mask, 31);
}
__device__ __forceinline__ float fma_rn(float a, float b, float c) {
    return __nvvm_fma_rn_f(a, b, c);
}
__device__ __forceinline__ float mul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
__device__ __forceinline__ float add_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
__device__ __forceinline__ float sub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
__device__ __forceinline__ double fma_rn(double a, double b, double c) {
    return __nvvm_fma_rn_d(a, b, c);
}
__device__ __forceinline__ double mul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
__device__ __forceinline__ float div_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
__device__ __forceinline__ float sqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ __forceinline__ float reciprocal_sqrt(float a) { return __nvvm_rsqrt_approx_f(a); }
__device__ __forceinline__ float sin_approx(float a) { return __nvvm_sin_approx_f(a); }
__device__ __forceinline__ float cos_approx(float a) { return __nvvm_cos_approx_f(a); }
__device__ __forceinline__ int round_down(float a) { return __nvvm_f2i_rm(a); }
__device__ __forceinline__ float maximum(float a, float b) { return __nvvm_fmax_f(a, b); }
__device__ __forceinline__ float minimum(float a, float b) { return __nvvm_fmin_f(a, b); }
__device__ __forceinline__ int bit_count(u32 a) { return __builtin_popcount(a); }
__device__ __forceinline__ void atomic_add(u32 *at, u32 value) {
    __nvvm_atom_add_gen_i((int *)at, (int)value);
}

#else

#define TID_X ((int)threadIdx.x)
#define TID_Y ((int)threadIdx.y)
#define CTAID_X ((int)blockIdx.x)
#define CTAID_Y ((int)blockIdx.y)
#define NTID_X ((int)blockDim.x)
#define NTID_Y ((int)blockDim.y)
#define NCTAID_X ((int)gridDim.x)

#define BARRIER() __syncthreads()

typedef float4 Float4;

#define FULL_WARP 0xffffffffu

__device__ __forceinline__ float shuffle_down(float value, int delta) {
    return __shfl_down_sync(FULL_WARP, value, delta);
}
__device__ __forceinline__ float shuffle_xor(float value, int mask) {
    return __shfl_xor_sync(FULL_WARP, value, mask);
}
__device__ __forceinline__ float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ float mul_rn(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float add_rn(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float sub_rn(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double fma_rn(double a, double b, double c) {
    return __fma_rn(a, b, c);
}
__device__ __forceinline__ double mul_rn(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float div_rn(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ float sqrt_rn(float a) { return __fsqrt_rn(a); }
__device__ __forceinline__ float reciprocal_sqrt(float a) { return rsqrtf(a); }
__device__ __forceinline__ float sin_approx(float a) { return __sinf(a); }
__device__ __forceinline__ float cos_approx(float a) { return __cosf(a); }
__device__ __forceinline__ int round_down(float a) { return __float2int_rd(a); }
__device__ __forceinline__ float maximum(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ float minimum(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ int bit_count(u32 a) { return __popc(a); }
__device__ __forceinline__ void atomic_add(u32 *at, u32 value) { atomicAdd(at, value); }

#endif

// The hardware's base-2 exponential and logarithm, accurate to about 22 bits.
__device__ __forceinline__ float exp2_approx(float a) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}
__device__ __forceinline__ float log2_approx(float a) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}

// The hardware's square root, accurate to about 23 bits.
__device__ __forceinline__ float sqrt_approx(float a) {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}

#endif
