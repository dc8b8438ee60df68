#define ROWS 4

extern "C" __global__ void copy_table(const float *__restrict__ in, float *__restrict__ out,
                                      int rows, int cols)
{
    const int first = blockIdx.x * blockDim.x * ROWS + threadIdx.x;
    const int col = blockIdx.y;
    float v[ROWS];

#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int row = first + r * blockDim.x;
        v[r] = row < rows ? in[(size_t)row * cols + col] : 0.0f;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int row = first + r * blockDim.x;
        if (row < rows)
            out[(size_t)row * cols + col] = v[r];
    }
}
