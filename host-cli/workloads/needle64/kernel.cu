// Global alignment of two sequences by tiles of 64 columns: CTAs of two warps.
#define TILE 64
#include "../needle.h"
