// Registers of the machine.
extern "C" __global__ void registers(unsigned *out, unsigned long long *wide) {
    unsigned lane, warp, warps, sm, sms, grid, total;
    asm volatile("mov.u32 %0, %%laneid; mov.u32 %1, %%warpid; mov.u32 %2, %%nwarpid;" : "=r"(lane), "=r"(warp), "=r"(warps));
    asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid; mov.u32 %2, %%gridid;" : "=r"(sm), "=r"(sms), "=r"(grid));
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
    out[threadIdx.x] = lane + warp + (warps >= warp) + (sm < sms) + grid % 1 + total;
    out[threadIdx.x] += threadIdx.y + threadIdx.z + blockDim.y + blockDim.z + gridDim.x + gridDim.z + warpSize;
    wide[threadIdx.x] = (clock64() > 0) + (clock() != 12345) + __isGlobal(out) + __isShared(out);
}
extern "C" __global__ void timed(float *values, long long *cycles) {
    long long start = clock64();
    float v = values[threadIdx.x];
    for (int k = 0; k < 16; k++) v = v * v + 0.5f;
    values[threadIdx.x] = v;
    cycles[threadIdx.x] = clock64() - start;
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    asm volatile("nanosleep.u32 100;");
    if (now == 1) cycles[0] = 0;
}
