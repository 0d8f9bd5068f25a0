// Tables by diagonals: alignment of sequences, cheapest ways, a longest common part.
extern "C" __global__ void align(int *table, const int *scores, int columns, int penalty, int diagonal) {
    __shared__ int tile[17][17], score[16][16];
    int t = threadIdx.x, base = (diagonal & 3) * 16 * columns + blockIdx.x * 16;
    if (t >= 16) return;
    for (int y = 0; y < 16; y++) score[y][t] = scores[base + columns * (y + 1) + t + 1];
    tile[0][t + 1] = table[base + t + 1];
    tile[t + 1][0] = table[base + columns * (t + 1)];
    if (t == 0) tile[0][0] = table[base];
    __syncwarp(0xffff);
    for (int d = 0; d < 31; d++) {
        int x = t + 1, y = d - t + 1;
        if (y >= 1 && y <= 16) tile[y][x] = max(tile[y - 1][x - 1] + score[y - 1][x - 1], max(tile[y][x - 1], tile[y - 1][x]) - penalty);
        __syncwarp(0xffff);
    }
    for (int y = 0; y < 16; y++) table[base + columns * (y + 1) + t + 1] = tile[y + 1][t + 1];
}
extern "C" __global__ void cheapest(const int *wall, const int *from, int *to, int columns, int iterations) {
    __shared__ int now[256], next[256];
    int x = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    now[t] = x < columns ? from[x] : 0x3fffffff;
    __syncthreads();
    for (int i = 0; i < iterations && i < 8; i++) {
        int least = min(now[t], min(now[max(t - 1, 0)], now[min(t + 1, (int)blockDim.x - 1)]));
        if (x < columns) next[t] = least + wall[i * columns + x];
        __syncthreads();
        now[t] = next[t];
        __syncthreads();
    }
    if (x < columns) to[x] = now[t];
}
extern "C" __global__ void common(const char *a, const char *b, short *lengths, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short best = 0, run = 0;
    for (int k = 0; k < 64; k++) {
        run = a[(i + k) % n] == b[k] ? run + 1 : 0;
        best = run > best ? run : best;
    }
    lengths[i] = best;
}
