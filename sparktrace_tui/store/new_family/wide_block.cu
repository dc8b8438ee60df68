extern "C" __global__ void scale(const float *__restrict__ in, float *__restrict__ out, int n, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = factor * in[i];
}
