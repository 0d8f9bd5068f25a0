// Vectors of every width and type, loaded and stored at once.
extern "C" __global__ void widths(const char4 *c, const short2 *s, const ushort4 *u, const int4 *i, const uint2 *j, const float4 *f, const double2 *d, const longlong2 *l, float4 *out, double2 *dout) {
    int t = threadIdx.x;
    float4 v = f[t];
    v.x += c[t].x + c[t].w; v.y += s[t].y + u[t].z; v.z += i[t].w + j[t].y; v.w += l[t].x;
    out[t] = v;
    dout[t] = make_double2(d[t].y, d[t].x);
}
extern "C" __global__ void bytes(uchar4 *pixels, char2 *pairs, ushort2 *words) {
    int t = threadIdx.x;
    uchar4 p = pixels[t];
    pixels[t] = make_uchar4(p.w, p.z, p.y, p.x);
    pairs[t] = make_char2(p.x, p.y);
    words[t] = make_ushort2(p.x * 256 + p.y, p.z);
}
