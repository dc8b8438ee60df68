#define BLOCK 256
#define LOWEST (-3.402823466e38f)
#define EACH 4

__device__ float block_max(float v)
{
    __shared__ float part[BLOCK];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    return part[0];
}

__device__ float block_sum(float v)
{
    __shared__ float part[BLOCK];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    return part[0];
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
    sum = block_sum(sum);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int c = threadIdx.x + k * BLOCK;
        if (c < cols)
            y[at + c] = v[k] / sum;
    }
}
