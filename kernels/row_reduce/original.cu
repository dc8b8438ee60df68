#define BLOCK 256

extern "C" __global__ void sum_rows(const float *__restrict__ in, float *__restrict__ sums,
                                    int rows, int cols)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    const float *line = in + (size_t)row * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c)
        sum += line[c];
    sums[row] = sum;
}
