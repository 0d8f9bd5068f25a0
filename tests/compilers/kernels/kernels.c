/* Compiled by GCC for offloading: each parallel region of OpenACC becomes a kernel. What it works
 * on are variables that live on the device; `saxpy_pointers` takes pointers instead, which GCC
 * passes in memory. */

enum { N = 1000, SIDE = 64, BLOCK = 128, BLOCKS = 8 };

float a, x[N], y[N], sums[BLOCKS];
unsigned values[N], bins[16];
float left[SIDE * SIDE], right[SIDE * SIDE], product[SIDE * SIDE];
#pragma acc declare create(a, x, y, sums, values, bins, left, right, product)

void saxpy(void)
{
#pragma acc parallel loop present(a, x, y) num_gangs(8) vector_length(32)
    for (int i = 0; i < N; ++i)
        y[i] = a * x[i] + y[i];
}

/* The sum of each block's elements: shuffles in a warp, shared memory between warps. */
void reduce(void)
{
#pragma acc parallel loop gang present(x, sums) num_gangs(BLOCKS) num_workers(4) vector_length(32)
    for (int block = 0; block < BLOCKS; ++block) {
        float total = 0.0f;
#pragma acc loop worker vector reduction(+ : total)
        for (int i = block * BLOCK; i < block * BLOCK + BLOCK; ++i)
            total += i < N ? x[i] : 0.0f;
        sums[block] = total;
    }
}

/* How many values there are of each remainder by 16. */
void histogram(void)
{
#pragma acc parallel loop present(values, bins) num_gangs(8) vector_length(32)
    for (int i = 0; i < N; ++i) {
#pragma acc atomic
        bins[values[i] % 16] += 1;
    }
}

void matmul(void)
{
#pragma acc parallel loop gang present(left, right, product) num_gangs(8) vector_length(32)
    for (int row = 0; row < SIDE; ++row) {
#pragma acc loop vector
        for (int column = 0; column < SIDE; ++column) {
            float total = 0.0f;
            for (int k = 0; k < SIDE; ++k)
                total += left[row * SIDE + k] * right[k * SIDE + column];
            product[row * SIDE + column] = total;
        }
    }
}

void saxpy_pointers(int n, float factor, const float *from, float *to)
{
#pragma acc parallel loop deviceptr(from, to) num_gangs(8) vector_length(32)
    for (int i = 0; i < n; ++i)
        to[i] = factor * from[i] + to[i];
}

int main(void)
{
    saxpy();
    reduce();
    histogram();
    matmul();
    saxpy_pointers(0, 0.0f, x, y);
}
