// Variables of a module: arrays, addresses in initialisers, constants, counters, shared ones.
struct Pair { int key; const char *name; };
__device__ int table[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
__device__ unsigned launches;
__device__ double accumulated[16];
__device__ const char text[] = "device text";
__device__ int *into_table = &table[1][1];
__constant__ Pair pairs[2] = {{1, text}, {2, text + 7}};
__constant__ long long constants[5] = {-1, 1, 1ll << 40};
static __shared__ int box[32];
extern "C" __global__ void all_of_them(int *out) {
    int t = threadIdx.x;
    if (t < 32) box[t] = table[t & 3][t % 3];
    __syncthreads();
    atomicAdd(&launches, 1u);
    accumulated[t & 15] = t;
    out[t] = box[31 - (t & 31)] + *into_table + pairs[t & 1].key + pairs[t & 1].name[1] + (int)constants[t % 5];
}
