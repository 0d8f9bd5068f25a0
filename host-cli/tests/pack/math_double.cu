// Functions of double precision, with calls of slow paths.
extern "C" __global__ void doubles(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i];
    out[i] = sin(x) + cos(x) + exp(x) + log(x + 1) + pow(x, 1.5) + sqrt(x) + 1 / (x + 2) + atan(x) + erfc(x) + cbrt(x) + fmod(x, 0.3) + floor(x) + tanh(x);
}
extern "C" __global__ void rounded(const double *in, double *out, long long *ints) {
    double x = in[threadIdx.x], y = in[threadIdx.x + 1];
    out[threadIdx.x] = __dadd_ru(x, y) + __dmul_rd(x, y) + __fma_rz(x, y, x) + __ddiv_rn(x, y + 1) + __dsqrt_ru(x) + __drcp_rd(y + 1) + fmin(x, y) + copysign(x, -1.0);
    ints[threadIdx.x] = __double2ll_rz(x) + __double2int_rd(y) + __double2hiint(x) + __double2loint(y) + __double_as_longlong(__hiloint2double(1, 2)) + (long long)__double2float_rz(x);
}
