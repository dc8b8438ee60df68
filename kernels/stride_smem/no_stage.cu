#define TILE 32

extern "C" __global__ void staged_copy(const float *__restrict__ src, float *__restrict__ dst,
                                       int width, int height)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) {
        const size_t at = (size_t)y * width + x;
        dst[at] = src[at];
    }
}
