// Global alignment of two sequences by tiles of 16 columns: CTAs of one warp, which is half empty.
#define TILE 16
#include "../needle.h"
