// Global alignment of two sequences by tiles of 48 columns: the second warp of a CTA is half empty.
#define TILE 48
#include "../needle.h"
