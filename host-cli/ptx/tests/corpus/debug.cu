// Compiled with debug information: .loc, .file, DWARF sections, local memory for everything.
struct Pair { int a; float b; };
__device__ Pair add(Pair p, const Pair &q) { return {p.a + q.a, p.b + q.b}; }
extern "C" __global__ void debugged(Pair *pairs, int n) {
    Pair sum = {0, 0.0f};
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum = add(sum, pairs[i]);
    pairs[threadIdx.x] = sum;
}
