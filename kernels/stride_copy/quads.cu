extern "C" __global__ void copy_table(const float4 *__restrict__ in, float4 *__restrict__ out,
                                      int rows, int quads)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int quad = blockIdx.y;
    if (row >= rows)
        return;
    const size_t i = (size_t)row * quads + quad;
    out[i] = in[i];
}
