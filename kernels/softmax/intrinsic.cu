#define BLOCK 256
#define LOWEST (-3.402823466e38f)

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

extern "C" __global__ void row_max(const float *__restrict__ x, float *__restrict__ top, int cols)
{
    const float *line = x + (size_t)blockIdx.x * cols;
    float m = LOWEST;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        m = fmaxf(m, line[c]);
    m = block_max(m);
    if (threadIdx.x == 0)
        top[blockIdx.x] = m;
}

extern "C" __global__ void row_exp(const float *__restrict__ x, const float *__restrict__ top,
                                   float *__restrict__ y, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[at + c] = __expf(x[at + c] - top[blockIdx.x]);
}

extern "C" __global__ void row_sum(const float *__restrict__ y, float *__restrict__ total, int cols)
{
    const float *line = y + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        sum += line[c];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        total[blockIdx.x] = sum;
}

extern "C" __global__ void row_divide(float *__restrict__ y, const float *__restrict__ total, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    const float share = 1.0f / total[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[at + c] *= share;
}
