#define TERMS 64

extern "C" __global__ void accumulate(const float *x, const float *w, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float xi = x[i];
    float sum = 0.0f;
    for (int t = 0; t < TERMS; ++t)
        sum += w[t] * (xi + t);
    y[i] = sum;
}
