// Ray tracing: spheres that reflect above a plane of squares, under a sky and a distant light. One
// thread for each pixel follows its ray from surface to surface; no shared memory, many registers.
//
// All arithmetic is by single IEEE operations, because the smallest difference decides at an edge
// what a ray meets.
#include "../strata_cuda.h"

#define FAR 1e30f
#define NEAR 1e-3f

struct Vector {
    float x, y, z;
};

__device__ __forceinline__ Vector vector(float x, float y, float z) {
    Vector result;
    result.x = x;
    result.y = y;
    result.z = z;
    return result;
}

__device__ __forceinline__ float dot(Vector a, Vector b) {
    return fma_rn(a.x, b.x, fma_rn(a.y, b.y, mul_rn(a.z, b.z)));
}

// from + direction * distance.
__device__ __forceinline__ Vector along(Vector from, Vector direction, float distance) {
    return vector(fma_rn(direction.x, distance, from.x), fma_rn(direction.y, distance, from.y),
                  fma_rn(direction.z, distance, from.z));
}

__device__ __forceinline__ Vector normalized(Vector a) {
    const float scale = div_rn(1.0f, sqrt_rn(dot(a, a)));
    return vector(mul_rn(a.x, scale), mul_rn(a.y, scale), mul_rn(a.z, scale));
}

// Where a ray enters a sphere that it starts outside of; not above 0 if it misses it.
__device__ __forceinline__ float meet(Vector origin, Vector direction, Vector centre,
                                      float radius) {
    const Vector to = vector(sub_rn(centre.x, origin.x), sub_rn(centre.y, origin.y),
                             sub_rn(centre.z, origin.z));
    const float middle = dot(to, direction);
    const float square = fma_rn(middle, middle, fma_rn(radius, radius, -dot(to, to)));
    return square > 0.0f ? sub_rn(middle, sqrt_rn(square)) : 0.0f;
}

__device__ __forceinline__ u32 byte(float intensity) {
    return (u32)fma_rn(minimum(intensity, 1.0f), 255.0f, 0.5f);
}

extern "C" __global__ void ray(const float *__restrict__ xs, const float *__restrict__ ys,
                               const float *__restrict__ zs, const float *__restrict__ radii,
                               const float *__restrict__ reds, const float *__restrict__ greens,
                               const float *__restrict__ blues,
                               const float *__restrict__ mirrors, u32 *__restrict__ pixels,
                               int spheres, int columns, int rows, int bounces) {
    const int column = CTAID_X * NTID_X + TID_X;
    const int row = CTAID_Y * NTID_Y + TID_Y;
    if (column >= columns || row >= rows) {
        return;
    }
    const Vector light = vector(0.48f, 0.8f, -0.36f);
    const float scale = div_rn(2.0f, (float)columns);
    Vector origin = vector(0.0f, 1.5f, -6.0f);
    Vector direction = normalized(vector(fma_rn((float)column, scale, -1.0f),
                                         mul_rn((float)(rows - 2 * row), mul_rn(scale, 0.5f)),
                                         1.5f));
    float red = 0.0f;
    float green = 0.0f;
    float blue = 0.0f;
    float weight = 1.0f;

#pragma unroll 1
    for (int bounce = 0; bounce <= bounces; ++bounce) {
        float distance = FAR;
        int nearest = -1;
        if (direction.y < 0.0f) {
            distance = div_rn(-origin.y, direction.y);
        }
#pragma unroll 1
        for (int sphere = 0; sphere < spheres; ++sphere) {
            const Vector centre = vector(xs[sphere], ys[sphere], zs[sphere]);
            const float found = meet(origin, direction, centre, radii[sphere]);
            if (found > NEAR && found < distance) {
                distance = found;
                nearest = sphere;
            }
        }
        if (distance >= FAR) {
            const float height = maximum(direction.y, 0.0f);
            red = fma_rn(weight, sub_rn(0.9f, mul_rn(0.6f, height)), red);
            green = fma_rn(weight, sub_rn(0.95f, mul_rn(0.4f, height)), green);
            blue = add_rn(weight, blue);
            break;
        }

        const Vector place = along(origin, direction, distance);
        Vector normal = vector(0.0f, 1.0f, 0.0f);
        // A square of the plane, light or dark.
        const bool dark = ((round_down(place.x) + round_down(place.z)) & 1) != 0;
        Vector colour = dark ? vector(0.2f, 0.25f, 0.3f) : vector(0.9f, 0.9f, 0.8f);
        float mirror = 0.25f;
        if (nearest >= 0) {
            normal = normalized(vector(sub_rn(place.x, xs[nearest]), sub_rn(place.y, ys[nearest]),
                                       sub_rn(place.z, zs[nearest])));
            colour = vector(reds[nearest], greens[nearest], blues[nearest]);
            mirror = mirrors[nearest];
        }
        origin = along(place, normal, NEAR);

        bool lit = true;
#pragma unroll 1
        for (int sphere = 0; sphere < spheres && lit; ++sphere) {
            const Vector centre = vector(xs[sphere], ys[sphere], zs[sphere]);
            lit = meet(origin, light, centre, radii[sphere]) <= NEAR;
        }
        const float turn = mul_rn(-2.0f, dot(direction, normal));
        direction = normalized(along(direction, normal, turn));
        float bright = 0.2f;
        float shine = 0.0f;
        if (lit) {
            bright = fma_rn(0.8f, maximum(dot(normal, light), 0.0f), bright);
            shine = maximum(dot(direction, light), 0.0f);
            // To the power of 16.
            shine = mul_rn(shine, shine);
            shine = mul_rn(shine, shine);
            shine = mul_rn(shine, shine);
            shine = mul_rn(shine, shine);
        }
        const float share = mul_rn(weight, sub_rn(1.0f, mirror));
        const float matt = mul_rn(share, bright);
        const float gloss = mul_rn(weight, mul_rn(mirror, shine));
        red = add_rn(fma_rn(matt, colour.x, red), gloss);
        green = add_rn(fma_rn(matt, colour.y, green), gloss);
        blue = add_rn(fma_rn(matt, colour.z, blue), gloss);
        weight = mul_rn(weight, mirror);
    }
    pixels[row * columns + column] = byte(red) | byte(green) << 8 | byte(blue) << 16;
}
