// Bodies that attract each other, tiles in shared memory; and forces of neighbours with a cutoff.
extern "C" __global__ void gravity(float4 *positions, float4 *velocities, int n, float dt, float softening) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = positions[i];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = positions[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = tile[k].w * inverse * inverse * inverse;
            ax += dx * s; ay += dy * s; az += dz * s;
        }
        __syncthreads();
    }
    float4 v = velocities[i];
    v.x += ax * dt; v.y += ay * dt; v.z += az * dt;
    velocities[i] = v;
    positions[i] = make_float4(me.x + v.x * dt, me.y + v.y * dt, me.z + v.z * dt, me.w);
}
extern "C" __global__ void lennard_jones(const float3 *at, float3 *force, const int *neighbours, int most, float cut, float a, float b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float3 p = at[i], f = make_float3(0, 0, 0);
    for (int k = 0; k < most; k++) {
        float3 q = at[neighbours[k * gridDim.x + blockIdx.x]];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cut && r2 > 0) {
            float r6 = 1 / (r2 * r2 * r2), s = r6 * (a * r6 - b) / r2;
            f.x += dx * s; f.y += dy * s; f.z += dz * s;
        }
    }
    force[i] = f;
}
