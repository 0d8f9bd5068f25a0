// Global alignment of two sequences by tiles of 32 columns: CTAs of one warp.
#define TILE 32
#include "../needle.h"
