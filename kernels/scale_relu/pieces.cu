extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ scaled,
                                 float gain, float shift, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        scaled[i] = x[i] * gain + shift;
}

extern "C" __global__ void relu(const float *__restrict__ scaled, float *__restrict__ y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scaled[i] < 0.0f ? 0.0f : scaled[i];
}
