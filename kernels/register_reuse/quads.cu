#define TERMS 64

__device__ void add_term(float4 *y, const float4 *x, float weight, int t)
{
    y->x += weight * (x->x + t);
    y->y += weight * (x->y + t);
    y->z += weight * (x->z + t);
    y->w += weight * (x->w + t);
}

extern "C" __global__ void accumulate(const float *x, const float *w, float *y, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        const float4 *x4 = reinterpret_cast<const float4 *>(x + i);
        float4 *y4 = reinterpret_cast<float4 *>(y + i);
        *y4 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int t = 0; t < TERMS; ++t) {
            const float4 v = *x4;
            float4 sum = *y4;
            add_term(&sum, &v, w[t], t);
            *y4 = sum;
        }
    } else {
        for (int j = i; j < n; ++j) {
            y[j] = 0.0f;
            for (int t = 0; t < TERMS; ++t)
                y[j] += w[t] * (x[j] + t);
        }
    }
}
