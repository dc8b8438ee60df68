#define TILE 64
#define DEPTH 16
#define SIDE 16
#define EACH (TILE / SIDE)

extern "C" __global__ void matmul(const float *__restrict__ A, const float *__restrict__ B,
                                  float *__restrict__ C, int m, int n, int k)
{
    __shared__ float As[TILE][DEPTH + 1];
    __shared__ float Bs[DEPTH][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row0 = blockIdx.y * TILE + ty;
    const int col0 = blockIdx.x * TILE + tx;

    float sum[EACH][EACH] = {};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int i = 0; i < EACH; ++i) {
            const int row = row0 + i * SIDE;
            const int col = col0 + i * SIDE;
            As[ty + i * SIDE][tx] = row < m && k0 + tx < k ? A[(size_t)row * k + k0 + tx] : 0.0f;
            Bs[ty][tx + i * SIDE] = col < n && k0 + ty < k ? B[(size_t)(k0 + ty) * n + col] : 0.0f;
        }
        __syncthreads();
        for (int kk = 0; kk < DEPTH; ++kk) {
            float b[EACH];
            for (int j = 0; j < EACH; ++j)
                b[j] = Bs[kk][tx + j * SIDE];
            for (int i = 0; i < EACH; ++i) {
                const float a = As[ty + i * SIDE][kk];
                for (int j = 0; j < EACH; ++j)
                    sum[i][j] += a * b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int row = row0 + i * SIDE;
            const int col = col0 + j * SIDE;
            if (row < m && col < n)
                C[(size_t)row * n + col] = sum[i][j];
        }
    }
}
