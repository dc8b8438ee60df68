#define BLOCK 256
#define LOWEST (-3.402823466e38f)
#define EACH 4
#define WARPS (BLOCK / 32)
#define FULL 0xffffffffu

__device__ float block_max(float v)
{
    __shared__ float part[WARPS];
    const int lane = threadIdx.x % 32;
    for (int mask = 16; mask > 0; mask /= 2)
        v = fmaxf(v, __shfl_xor_sync(FULL, v, mask));
    if (lane == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = lane < WARPS ? part[lane] : LOWEST;
    for (int mask = 16; mask > 0; mask /= 2)
        v = fmaxf(v, __shfl_xor_sync(FULL, v, mask));
    return v;
}

__device__ float block_sum(float v)
{
    __shared__ float part[WARPS];
    const int lane = threadIdx.x % 32;
    for (int mask = 16; mask > 0; mask /= 2)
        v += __shfl_xor_sync(FULL, v, mask);
    if (lane == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = lane < WARPS ? part[lane] : 0.0f;
    for (int mask = 16; mask > 0; mask /= 2)
        v += __shfl_xor_sync(FULL, v, mask);
    return v;
}

extern "C" __global__ void softmax_row(const float *__restrict__ x, float *__restrict__ y, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    float v[EACH];
    float m = LOWEST;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int c = threadIdx.x + k * BLOCK;
        v[k] = c < cols ? x[at + c] : LOWEST;
        m = fmaxf(m, v[k]);
    }
    m = block_max(m);

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        v[k] = expf(v[k] - m);
        if (threadIdx.x + k * BLOCK < cols)
            sum += v[k];
    }
    const float share = 1.0f / block_sum(sum);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int c = threadIdx.x + k * BLOCK;
        if (c < cols)
            y[at + c] = v[k] * share;
    }
}
