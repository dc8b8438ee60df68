#define SQUARE_KERNEL(NAME, TILE)                                                                        \
    extern "C" __global__ void NAME(const float *a, const float *b, float *c, int n)                     \
    {                                                                                                    \
        __shared__ float left[TILE][TILE];                                                               \
        __shared__ float right[TILE][TILE];                                                              \
        const int tx = threadIdx.x, ty = threadIdx.y;                                                    \
        const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;                            \
        float sum = 0.0f;                                                                                \
        for (int start = 0; start < n; start += TILE) {                                                  \
            left[ty][tx] = row < n && start + tx < n ? a[row * n + start + tx] : 0.0f;                   \
            right[ty][tx] = start + ty < n && col < n ? b[(start + ty) * n + col] : 0.0f;                \
            __syncthreads();                                                                             \
            _Pragma("unroll") for (int k = 0; k < TILE; ++k) sum += left[ty][k] * right[k][tx];          \
            __syncthreads();                                                                             \
        }                                                                                                \
        if (row < n && col < n)                                                                          \
            c[row * n + col] = sum;                                                                      \
    }

SQUARE_KERNEL(tile_16, 16)
SQUARE_KERNEL(tile_32, 32)

extern "C" __global__ void naive(const float *a, const float *b, float *c, int n)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

extern "C" __global__ void quads(const float *a, const float *b, float *c, int n)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k + 3 < n; k += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(&a[row * n + k]);
        sum += four.x * b[k * n + col];
        sum += four.y * b[(k + 1) * n + col];
        sum += four.z * b[(k + 2) * n + col];
        sum += four.w * b[(k + 3) * n + col];
    }
    c[row * n + col] = sum;
}

// A block computes a 64 x 64 tile; each of its 1,024 threads four rows of one column.
extern "C" __global__ void registers(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[64][8];
    __shared__ float right[8][64];
    const int t = threadIdx.x;
    const int across = t % 64, down = t / 64;
    const int row = blockIdx.y * 64 + down * 4, col = blockIdx.x * 64 + across;
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < n; start += 8) {
        if (t / 8 < 64) {
            const int y = blockIdx.y * 64 + t / 8, x = start + t % 8;
            left[t / 8][t % 8] = y < n && x < n ? a[y * n + x] : 0.0f;
        }
        if (t / 64 < 8) {
            const int y = start + t / 64;
            right[t / 64][across] = y < n && col < n ? b[y * n + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float factor = right[k][across];
#pragma unroll
            for (int m = 0; m < 4; ++m)
                sums[m] += left[down * 4 + m][k] * factor;
        }
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 4; ++m)
        if (row + m < n && col < n)
            c[(row + m) * n + col] = sums[m];
}
