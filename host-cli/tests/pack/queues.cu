// Work lists: threads that stay, a queue with tickets, a stack of spheres and rays.
extern "C" __global__ void persistent(int *next, const int *jobs, int *done, int count) {
    __shared__ int job;
    for (;;) {
        if (threadIdx.x == 0) job = atomicAdd(next, 1);
        __syncthreads();
        int mine = job;
        __syncthreads();
        if (mine >= count || mine >= 64) return;
        done[mine * blockDim.x + threadIdx.x] = jobs[mine] + threadIdx.x;
    }
}
struct Ray { float3 origin, direction; };
struct Sphere { float3 centre; float radius; int material; };
__device__ float hit(const Ray &r, const Sphere &s) {
    float3 o = make_float3(r.origin.x - s.centre.x, r.origin.y - s.centre.y, r.origin.z - s.centre.z);
    float b = o.x * r.direction.x + o.y * r.direction.y + o.z * r.direction.z, c = o.x * o.x + o.y * o.y + o.z * o.z - s.radius * s.radius, d = b * b - c;
    return d < 0 ? -1 : -b - sqrtf(d);
}
extern "C" __global__ void trace(const Ray *rays, const Sphere *spheres, int count, uchar4 *pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Ray r = rays[i];
    float nearest = 1e30f;
    int material = -1;
    for (int k = 0; k < count; k++) {
        float t = hit(r, spheres[k]);
        if (t > 0 && t < nearest) {
            nearest = t;
            material = spheres[k].material;
        }
    }
    pixels[i] = material < 0 ? make_uchar4(0, 0, 0, 0) : make_uchar4(material, nearest * 10, 0, 255);
}
