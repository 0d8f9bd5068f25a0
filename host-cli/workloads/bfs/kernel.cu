// Breadth-first search over a graph in compressed sparse rows, level by level, one thread for each
// node. Two launches for each level; the host repeats them until `changed` stays zero.
//
// Threads that mark the same node store the same value, so the order does not matter.
#include "../strata_cuda.h"

extern "C" __global__ void bfs_start(u8 *__restrict__ frontier, int *__restrict__ levels,
                                     int source) {
    frontier[source] = 1;
    levels[source] = 0;
}

// Marks the unseen neighbours of the frontier and empties it.
extern "C" __global__ void bfs_expand(const u32 *__restrict__ offsets,
                                      const u32 *__restrict__ edges, u8 *__restrict__ frontier,
                                      const int *__restrict__ levels, u8 *__restrict__ next,
                                      int nodes) {
    const int node = CTAID_X * NTID_X + TID_X;
    if (node >= nodes || frontier[node] == 0) {
        return;
    }
    frontier[node] = 0;
    const u32 end = offsets[node + 1];
    for (u32 edge = offsets[node]; edge < end; ++edge) {
        const u32 target = edges[edge];
        if (levels[target] < 0) {
            next[target] = 1;
        }
    }
}

// Turns the marked nodes into the next frontier.
extern "C" __global__ void bfs_advance(u8 *__restrict__ next, u8 *__restrict__ frontier,
                                       int *__restrict__ levels, u32 *__restrict__ changed,
                                       int nodes, int level) {
    const int node = CTAID_X * NTID_X + TID_X;
    if (node < nodes && next[node] != 0) {
        next[node] = 0;
        frontier[node] = 1;
        levels[node] = level;
        *changed = 1;
    }
}
