#define BLOCK 1024

__device__ float block_sum(float v)
{
    __shared__ float part[BLOCK / 32];
    const int lane = threadIdx.x % 32;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    if (lane == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    v = lane < BLOCK / 32 ? part[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

extern "C" __global__ void row_mean(const float *__restrict__ x, float *__restrict__ mean, int cols)
{
    const float *line = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        sum += line[c];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        mean[blockIdx.x] = sum / cols;
}

extern "C" __global__ void row_scale(const float *__restrict__ x, const float *__restrict__ mean,
                                     float *__restrict__ scale, int cols, float epsilon)
{
    const float *line = x + (size_t)blockIdx.x * cols;
    const float mu = mean[blockIdx.x];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float d = line[c] - mu;
        sum += d * d;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        scale[blockIdx.x] = rsqrtf(sum / cols + epsilon);
}

extern "C" __global__ void normalise(const float *__restrict__ x, const float *__restrict__ mean,
                                     const float *__restrict__ scale, const float *__restrict__ gamma,
                                     const float *__restrict__ beta, float *__restrict__ y, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    const float mu = mean[blockIdx.x];
    const float s = scale[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[at + c] = (x[at + c] - mu) * s * gamma[c] + beta[c];
}
