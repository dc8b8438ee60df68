extern "C" __global__ void copy_strided(const float *__restrict__ in, float *__restrict__ out, int n, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[(size_t)i * stride];
}
