#define TILE 32

extern "C" __global__ void matmul(const float *__restrict__ A, const float *__restrict__ B,
                                  float *__restrict__ C, int m, int n, int k)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    if (row >= m || col >= n)
        return;

    const float *a = A + (size_t)row * k;
    const float *b = B + col;
    float sum = 0.0f;
    for (int kk = 0; kk < k; ++kk)
        sum += a[kk] * b[(size_t)kk * n];
    C[(size_t)row * n + col] = sum;
}
