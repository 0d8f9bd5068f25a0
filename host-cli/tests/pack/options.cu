// Prices of options: closed form and a binomial tree; square roots, logarithms and exponentials.
__device__ inline float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = 0.39894228f * __expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f)))));
    return d > 0 ? 1.0f - p : p;
}
extern "C" __global__ void closed_form(float2 *__restrict__ call, float2 *__restrict__ put, const float2 *__restrict__ price, const float2 *__restrict__ strike, const float2 *__restrict__ years, float rate, float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    float2 s = price[i], x = strike[i], t = years[i], c, p;
    for (int k = 0; k < 2; k++) {
        float sk = k ? s.y : s.x, xk = k ? x.y : x.x, tk = k ? t.y : t.x, root = sqrtf(tk);
        float d1 = __fdividef(__logf(sk / xk) + (rate + 0.5f * volatility * volatility) * tk, volatility * root);
        float d2 = d1 - volatility * root, discount = __expf(-rate * tk);
        float value = sk * normal(d1) - xk * discount * normal(d2);
        (k ? c.y : c.x) = value;
        (k ? p.y : p.x) = value + xk * discount - sk;
    }
    call[i] = c;
    put[i] = p;
}
struct Option { double price, strike, years; };
extern "C" __global__ void binomial(const Option *options, double *values) {
    __shared__ double tree[129];
    Option o = options[blockIdx.x];
    double step = o.years / 128, up = exp(0.3 * sqrt(step)), chance = (exp(0.02 * step) - 1 / up) / (up - 1 / up);
    int t = threadIdx.x;
    tree[t] = fmax(o.price * pow(up, 2.0 * t - 128) - o.strike, 0.0);
    if (t == 0) tree[128] = fmax(o.price * pow(up, 128.0) - o.strike, 0.0);
    for (int level = 127; level >= 0; level--) {
        __syncthreads();
        double value = t <= level ? exp(-0.02 * step) * (chance * tree[t + 1] + (1 - chance) * tree[t]) : 0;
        __syncthreads();
        if (t <= level) tree[t] = value;
    }
    if (t == 0) values[blockIdx.x] = tree[0];
}
