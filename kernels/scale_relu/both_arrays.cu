extern "C" __global__ void scale_relu(const float *__restrict__ x, float *__restrict__ scaled,
                                      float *__restrict__ y, float gain, float shift, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i] * gain + shift;
        scaled[i] = v;
        y[i] = v < 0.0f ? 0.0f : v;
    }
}
