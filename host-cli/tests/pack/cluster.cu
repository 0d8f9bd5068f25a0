// Machines of compute capability 9.0: clusters of one block, their registers, a launch that waits.
extern "C" __global__ void clustered(unsigned *out) {
    unsigned rank, count;
    asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(count));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    out[blockIdx.x * blockDim.x + threadIdx.x] = rank + count;
}
extern "C" __global__ void dependent(float *values) {
    asm volatile("griddepcontrol.wait;");
    values[threadIdx.x] *= 2;
    asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void transactions(int *out) {
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x));
    __syncthreads();
    unsigned long long state;
    unsigned done = 0;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
    while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(state));
    out[threadIdx.x] = done;
}
