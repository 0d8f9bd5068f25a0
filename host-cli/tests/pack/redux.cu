// Reductions of a warp by one instruction.
extern "C" __global__ void redux(const int *in, int *out, const unsigned *uin, unsigned *uout) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __reduce_add_sync(~0u, in[i]) + __reduce_min_sync(~0u, in[i]) * 3 + __reduce_max_sync(~0u, in[i]) * 5;
    uout[i] = __reduce_add_sync(~0u, uin[i]) + __reduce_min_sync(~0u, uin[i]) + __reduce_max_sync(~0u, uin[i]) + __reduce_and_sync(~0u, uin[i]) + __reduce_or_sync(~0u, uin[i]) + __reduce_xor_sync(~0u, uin[i]);
    if (i & 1) uout[i] += __reduce_add_sync(0xaaaaaaaa, 1u);
}
