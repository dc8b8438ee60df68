#define BLOCK 256

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
    const float4 *line = reinterpret_cast<const float4 *>(x + (size_t)blockIdx.x * cols);
    float sum = 0.0f;
    for (int q = threadIdx.x; q < cols / 4; q += BLOCK) {
        const float4 v = line[q];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        mean[blockIdx.x] = sum / cols;
}

extern "C" __global__ void row_scale(const float *__restrict__ x, const float *__restrict__ mean,
                                     float *__restrict__ scale, int cols, float epsilon)
{
    const float4 *line = reinterpret_cast<const float4 *>(x + (size_t)blockIdx.x * cols);
    const float mu = mean[blockIdx.x];
    float sum = 0.0f;
    for (int q = threadIdx.x; q < cols / 4; q += BLOCK) {
        const float4 v = line[q];
        const float4 d = make_float4(v.x - mu, v.y - mu, v.z - mu, v.w - mu);
        sum += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
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
    const float4 *line = reinterpret_cast<const float4 *>(x + at);
    const float4 *gains = reinterpret_cast<const float4 *>(gamma);
    const float4 *shifts = reinterpret_cast<const float4 *>(beta);
    float4 *out = reinterpret_cast<float4 *>(y + at);
    const float mu = mean[blockIdx.x];
    const float s = scale[blockIdx.x];
    for (int q = threadIdx.x; q < cols / 4; q += BLOCK) {
        const float4 v = line[q];
        const float4 g = gains[q];
        const float4 b = shifts[q];
        out[q] = make_float4((v.x - mu) * s * g.x + b.x, (v.y - mu) * s * g.y + b.y,
                             (v.z - mu) * s * g.z + b.z, (v.w - mu) * s * g.w + b.w);
    }
}
