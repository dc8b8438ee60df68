__device__ float scale(float x, float gain, float shift)
{
    return x * gain + shift;
}

__device__ float relu(float x)
{
    return x < 0.0f ? 0.0f : x;
}

extern "C" __global__ void scale_relu(const float *__restrict__ x, float *__restrict__ y,
                                      float gain, float shift, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = relu(scale(x[i], gain, shift));
}
