// Barriers in shared memory: arrive and wait in two steps, with copies that arrive.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void rounds(int *out, int count) {
    __shared__ __mbarrier_t barrier;
    __shared__ int box[128];
    int t = threadIdx.x, sum = 0;
    if (t == 0) __mbarrier_init(&barrier, blockDim.x);
    __syncthreads();
    for (int k = 0; k < (count & 15) + 1; k++) {
        box[t] = t + k;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait(&barrier, token)) {}
        sum += box[(t + 1) % blockDim.x];
        token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait(&barrier, token)) {}
    }
    out[t] = sum;
}
extern "C" __global__ void copied(const int *in, int *out) {
    __shared__ __mbarrier_t barrier;
    __shared__ int box[128];
    int t = threadIdx.x;
    if (t == 0) __mbarrier_init(&barrier, blockDim.x);
    __syncthreads();
    __pipeline_memcpy_async(&box[t], &in[t], 4);
    __pipeline_arrive_on(&barrier);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {}
    out[t] = box[127 - t] + __mbarrier_token_pending_count(token);
    __syncthreads();
    if (t == 0) __mbarrier_inval(&barrier);
}
