#define BLOCK 256
#define WARPS (BLOCK / 32)

__device__ float warp_sum(float v)
{
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

extern "C" __global__ void add_all(const float *__restrict__ in, float *total, int n)
{
    __shared__ float part[WARPS];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];

    sum = warp_sum(sum);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? part[lane] : 0.0f);
        if (lane == 0)
            atomicAdd(total, sum);
    }
}
