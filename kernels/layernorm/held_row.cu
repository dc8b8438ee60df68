#define BLOCK 256
#define EACH 4

__device__ float block_sum(float v)
{
    __shared__ float part[BLOCK / 32];
    const int lane = threadIdx.x % 32;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    __syncthreads();
    if (lane == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = lane < BLOCK / 32 ? part[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

extern "C" __global__ void normalise_row(const float *__restrict__ x, const float *__restrict__ gamma,
                                         const float *__restrict__ beta, float *__restrict__ y,
                                         int cols, float epsilon)
{
    const size_t at = (size_t)blockIdx.x * cols;
    float v[EACH];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int c = threadIdx.x + k * BLOCK;
        v[k] = c < cols ? x[at + c] : 0.0f;
        sum += v[k];
    }
    const float mu = block_sum(sum) / cols;

    sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        v[k] -= mu;
        if (threadIdx.x + k * BLOCK < cols)
            sum += v[k] * v[k];
    }
    const float s = rsqrtf(block_sum(sum) / cols + epsilon);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int c = threadIdx.x + k * BLOCK;
        if (c < cols)
            y[at + c] = v[k] * s * gamma[c] + beta[c];
    }
}
