#define TILE 32
#define PITCH (TILE + 1)
#define TRIPS 24

extern "C" __global__ void staged_copy(const float *__restrict__ src, float *__restrict__ dst,
                                       int width, int height)
{
    __shared__ float stage[TILE * PITCH];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const bool valid = x < width && y < height;
    const size_t at = (size_t)y * width + x;
    const int slot = threadIdx.x * PITCH + threadIdx.y;

    float v = valid ? src[at] : 0.0f;
    for (int trip = 0; trip < TRIPS; ++trip) {
        stage[slot] = v;
        __syncthreads();
        v = stage[slot];
        __syncthreads();
    }
    if (valid)
        dst[at] = v;
}
