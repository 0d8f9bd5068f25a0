// cuda::atomic_ref in the style of C++: orders and scopes of loads, stores and fences.
#include <cuda/atomic>
extern "C" __global__ void orders(int *values, unsigned *flags) {
    cuda::atomic_ref<int, cuda::thread_scope_device> v(values[0]);
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> f(flags[threadIdx.x & 7]);
    cuda::atomic_ref<int, cuda::thread_scope_system> s(values[1]);
    v.fetch_add(1, cuda::memory_order_relaxed);
    f.store(threadIdx.x, cuda::memory_order_release);
    unsigned seen = f.load(cuda::memory_order_acquire);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    int expected = 0;
    s.compare_exchange_strong(expected, (int)seen, cuda::memory_order_acq_rel);
    s.fetch_max(5);
    v.exchange(v.load());
}
