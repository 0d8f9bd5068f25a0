// Ranges of keys in a B+ tree of three levels, whose nodes have room for 512 keys: for each query a
// CTA with a thread for each slot of a node goes down with the first and the last key at a time.
//
// Where a search stands lies in global memory: the thread that finds its key tells the others.
#include "../strata_cuda.h"

#define ORDER 512
#define LEVELS 3
#define NEVER 0xffffffffffffffffull
#define GAP_BITS 3

// Record r has the key (r << 3) + gaps[r], gaps of 3 bits: keys in order, at random distances.
__device__ __forceinline__ u64 key_of(const u32 *__restrict__ gaps, int record) {
    return ((u64)record << GAP_BITS) + gaps[record];
}

// Fills the nodes: the root, the inner nodes, the leaves. `fill` slots of a node are used.
extern "C" __global__ void btree_build(const u32 *__restrict__ gaps, u64 *__restrict__ keys,
                                       int *__restrict__ children, int records, int fill, int leaves,
                                       int inner) {
    const int node = CTAID_X;
    const int slot = TID_X;
    u64 key = NEVER;
    int child = 0;
    if (slot < fill) {
        if (node > inner) {
            const int record = (node - 1 - inner) * fill + slot;
            if (record < records) {
                key = key_of(gaps, record);
                child = record;
            }
        } else if (node > 0) {
            const int leaf = (node - 1) * fill + slot;
            if (leaf < leaves) {
                key = key_of(gaps, leaf * fill);
                child = 1 + inner + leaf;
            }
        } else if (slot < inner) {
            key = key_of(gaps, slot * fill * fill);
            child = 1 + slot;
        }
    }
    keys[node * ORDER + slot] = key;
    children[node * ORDER + slot] = child;
}

// first[q] and last[q]: the last records whose keys are not above the query's.
extern "C" __global__ void btree(const u64 *__restrict__ keys, const int *__restrict__ children,
                                 const u64 *__restrict__ start, const u64 *__restrict__ end,
                                 int *first, int *last, int *length) {
    const int query = CTAID_X;
    const int slot = TID_X;
    const u64 low = start[query];
    const u64 high = end[query];
    const bool has_next = slot + 1 < ORDER;
#pragma unroll 1
    for (int level = 0; level < LEVELS; ++level) {
        const int at_first = first[query] * ORDER + slot;
        const int at_last = last[query] * ORDER + slot;
        BARRIER();
        const u64 first_key = keys[at_first];
        const u64 last_key = keys[at_last];
        const int first_child = children[at_first];
        const int last_child = children[at_last];
        const u64 after_first = has_next ? keys[at_first + 1] : NEVER;
        const u64 after_last = has_next ? keys[at_last + 1] : NEVER;
        if (first_key <= low && low < after_first) {
            first[query] = first_child;
        }
        if (last_key <= high && high < after_last) {
            last[query] = last_child;
        }
        BARRIER();
    }
    if (slot == 0) {
        length[query] = last[query] - first[query];
    }
}
