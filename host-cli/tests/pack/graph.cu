// Graphs: levels of a breadth-first search with flags, relaxations, ranks of pages.
struct Range { int start, edges; };
extern "C" __global__ void visit(const Range *nodes, const int *edges, bool *frontier, bool *updated, const bool *visited, int *cost, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !frontier[i]) return;
    frontier[i] = false;
    for (int e = nodes[i].start; e < nodes[i].start + (nodes[i].edges & 7); e++) {
        int to = edges[e];
        if (!visited[to]) {
            cost[to] = cost[i] + 1;
            updated[to] = true;
        }
    }
}
extern "C" __global__ void settle(bool *frontier, bool *updated, bool *visited, bool *again, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && updated[i]) {
        frontier[i] = visited[i] = *again = true;
        updated[i] = false;
    }
}
extern "C" __global__ void relax(const int *from, const int *to, const unsigned *length, unsigned *distance, int edges, int *changed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    unsigned through = distance[from[e]] + length[e];
    if (through < distance[to[e]]) {
        atomicMin(&distance[to[e]], through);
        *changed = 1;
    }
}
extern "C" __global__ void ranks(const int *offsets, const int *sources, const float *rank, const int *degree, float *next, int n, float damping) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) sum += rank[sources[e]] / (degree[sources[e]] + 1);
    next[i] = (1 - damping) / n + damping * sum;
}
