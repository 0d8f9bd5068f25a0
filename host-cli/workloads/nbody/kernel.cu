// One time step of n bodies that attract each other, all pairs, with softened gravity.
//
// Bodies are (x, y, z, mass). A CTA keeps one body for each thread in registers and walks over all
// bodies in tiles of shared memory; bodies beyond the last have no mass.
#include "../strata_cuda.h"

#define THREADS 96

extern "C" __global__ void nbody(const Float4 *__restrict__ bodies,
                                 const Float4 *__restrict__ velocities,
                                 Float4 *__restrict__ next_bodies,
                                 Float4 *__restrict__ next_velocities, int n, float step,
                                 float softening) {
    __shared__ Float4 tile[THREADS];
    const int thread = TID_X;
    const int at = CTAID_X * THREADS + thread;

    Float4 none;
    none.x = none.y = none.z = none.w = 0.0f;
    const Float4 body = at < n ? bodies[at] : none;
    float ax = 0.0f;
    float ay = 0.0f;
    float az = 0.0f;

    for (int start = 0; start < n; start += THREADS) {
        tile[thread] = start + thread < n ? bodies[start + thread] : none;
        BARRIER();
#pragma unroll 8
        for (int k = 0; k < THREADS; ++k) {
            const Float4 other = tile[k];
            const float dx = other.x - body.x;
            const float dy = other.y - body.y;
            const float dz = other.z - body.z;
            const float square = dx * dx + dy * dy + dz * dz + softening;
            const float inverse = reciprocal_sqrt(square);
            const float pull = other.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        BARRIER();
    }

    if (at < n) {
        Float4 velocity = velocities[at];
        velocity.x += ax * step;
        velocity.y += ay * step;
        velocity.z += az * step;
        Float4 moved = body;
        moved.x += velocity.x * step;
        moved.y += velocity.y * step;
        moved.z += velocity.z * step;
        next_velocities[at] = velocity;
        next_bodies[at] = moved;
    }
}
