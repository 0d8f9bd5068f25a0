// Particles: boxes of neighbours, a filter's weights and resampling, potentials on a lattice.
struct Box { int x, y, z, number; long offset; int neighbours; int list[8]; };
struct Parameters { double alpha; int boxes; };
extern "C" __global__ void boxes(Parameters p, const Box *all, const double4 *at, const double *charge, double4 *force) {
    __shared__ double4 theirs[32];
    const Box &home = all[blockIdx.x];
    int t = threadIdx.x & 31;
    double4 me = at[blockIdx.x * 32 + t], sum = make_double4(0, 0, 0, 0);
    for (int k = 0; k < (home.neighbours & 7); k++) {
        __syncthreads();
        theirs[t] = at[(home.list[k] & 3) * 32 + t];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            double dx = me.x - theirs[j].x, dy = me.y - theirs[j].y, dz = me.z - theirs[j].z;
            double e = exp(-p.alpha * (dx * dx + dy * dy + dz * dz)) * charge[j];
            sum.x += e; sum.y += e * dx; sum.z += e * dy; sum.w += e * dz;
        }
    }
    force[blockIdx.x * 32 + t] = sum;
}
extern "C" __global__ void resample(const double *cumulative, const double *u, const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = n - 1;
    for (int k = 0; k < n; k++)
        if (cumulative[k] >= u[i]) {
            at = k;
            break;
        }
    out[i] = in[at];
}
__constant__ float4 atoms[32];
extern "C" __global__ void potential(float *lattice, int count, float spacing) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int a = 0; a < (count & 31); a++) {
        float dx = x * spacing - atoms[a].x, dy = y * spacing - atoms[a].y;
        sum += atoms[a].w * rsqrtf(dx * dx + dy * dy + atoms[a].z * atoms[a].z + 0.01f);
    }
    lattice[y * gridDim.x * blockDim.x + x] += sum;
}
