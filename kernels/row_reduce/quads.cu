#define BLOCK 256

extern "C" __global__ void sum_rows(const float *__restrict__ in, float *__restrict__ sums,
                                    int rows, int cols)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    const float4 *line = reinterpret_cast<const float4 *>(in + (size_t)row * cols);
    float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int q = 0; q < cols / 4; ++q) {
        const float4 v = line[q];
        part.x += v.x;
        part.y += v.y;
        part.z += v.z;
        part.w += v.w;
    }
    sums[row] = (part.x + part.y) + (part.z + part.w);
}
