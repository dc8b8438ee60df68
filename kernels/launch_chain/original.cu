__device__ float apply(float v, int k)
{
    const float gain = 1.25f - 0.0625f * k;
    const float shift = 0.125f * k - 0.5f;
    v = v * gain + shift;
    return v < 0.0f ? 0.25f * v : v;
}

extern "C" __global__ void stage(const float *from, float *to, int k, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = apply(from[i], k);
}
