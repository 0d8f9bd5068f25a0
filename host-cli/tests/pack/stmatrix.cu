// stmatrix and movmatrix, and an exchange between lanes by way of shared memory.
extern "C" __global__ void __launch_bounds__(32) stored(const unsigned *in, uint4 *out) {
    __shared__ __align__(16) unsigned tile[4 * 32];
    unsigned to = (unsigned)__cvta_generic_to_shared(tile), t = threadIdx.x, moved;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to + t * 16), "r"(in[t]), "r"(in[t + 32]), "r"(in[t + 64]), "r"(in[t + 96]));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(to + t % 8 * 16), "r"(in[t]));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(in[t]));
    __syncwarp();
    uint4 row = ((uint4 *)tile)[t];
    row.x ^= moved;
    out[t] = row;
}
