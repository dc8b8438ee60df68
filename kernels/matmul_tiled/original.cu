#define TILE 32

extern "C" __global__ void matmul(const float *__restrict__ A, const float *__restrict__ B,
                                  float *__restrict__ C, int m, int n, int k)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        As[ty][tx] = row < m && k0 + tx < k ? A[(size_t)row * k + k0 + tx] : 0.0f;
        Bs[tx][ty] = col < n && k0 + ty < k ? B[(size_t)(k0 + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int kk = 0; kk < TILE; ++kk)
            sum += As[ty][kk] * Bs[tx][kk];
        __syncthreads();
    }
    if (row < m && col < n)
        C[(size_t)row * n + col] = sum;
}
