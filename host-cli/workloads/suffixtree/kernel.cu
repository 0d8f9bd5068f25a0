// Matches of reads in a text by its suffix tree: for each place of each read, how many letters from
// there on stand somewhere in the text. One thread for each read walks the tree in global memory, and
// goes on from a place to the next by a suffix link.
//
// A node has eight words: children by the first letter of their labels (0: none), where in the text
// the node's label starts and how long it is, the suffix link, and how many letters lead to the node.
#include "../strata_cuda.h"

#define WORDS 8
#define START 4
#define LENGTH 5
#define LINK 6
#define DEPTH 7
// The link of a leaf.
#define NONE 0xffffffffu

extern "C" __global__ void suffixtree(const u32 *__restrict__ tree, const u8 *__restrict__ text,
                                      const u8 *__restrict__ reads, u32 *__restrict__ matches,
                                      int count, int letters) {
    const int read = CTAID_X * NTID_X + TID_X;
    if (read >= count) {
        return;
    }
    const u8 *__restrict__ own = reads + read * letters;
    u32 node = 0;
    // Letters that lead to `node`, and letters that are known to match; all from `place` on.
    int depth = 0;
    int matched = 0;
    for (int place = 0; place < letters; ++place) {
        while (place + depth < letters) {
            const u32 child = tree[node * WORDS + own[place + depth]];
            if (child == 0) {
                break;
            }
            const u32 start = tree[child * WORDS + START];
            const int length = tree[child * WORDS + LENGTH];
            // What is known need not be compared.
            int along = matched - depth;
            along = along < length ? along : length;
            while (along < length && place + depth + along < letters &&
                   text[start + along] == own[place + depth + along]) {
                ++along;
            }
            matched = matched > depth + along ? matched : depth + along;
            if (along < length || tree[child * WORDS + LINK] == NONE) {
                break;
            }
            node = child;
            depth += length;
        }
        matches[read * letters + place] = matched;
        // Without the first letter; nothing matches less than nothing.
        node = tree[node * WORDS + LINK];
        depth = tree[node * WORDS + DEPTH];
        matched = matched > 0 ? matched - 1 : 0;
    }
}
