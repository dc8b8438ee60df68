extern "C" __global__ void add_all(const float *__restrict__ in, float *total, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, in[i]);
}
