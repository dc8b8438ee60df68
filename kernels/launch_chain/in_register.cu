#define STAGES 16

__device__ float apply(float v, int k)
{
    const float gain = 1.25f - 0.0625f * k;
    const float shift = 0.125f * k - 0.5f;
    v = v * gain + shift;
    return v < 0.0f ? 0.25f * v : v;
}

extern "C" __global__ void stages(const float *__restrict__ from, float *__restrict__ to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = from[i];
    for (int k = 0; k < STAGES; ++k)
        v = apply(v, k);
    to[i] = v;
}
