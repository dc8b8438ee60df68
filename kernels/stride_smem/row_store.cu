#define TILE 32
#define TRIPS 24

extern "C" __global__ void staged_copy(const float *__restrict__ src, float *__restrict__ dst,
                                       int width, int height)
{
    __shared__ float stage[TILE * TILE];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const bool valid = x < width && y < height;
    const size_t at = (size_t)y * width + x;
    const int put = threadIdx.y * TILE + threadIdx.x;
    const int get = threadIdx.x * TILE + threadIdx.y;

    // A trip swaps the tile's rows and columns; after an even number every value is home.
    float v = valid ? src[at] : 0.0f;
    for (int trip = 0; trip < TRIPS; ++trip) {
        stage[put] = v;
        __syncthreads();
        v = stage[get];
        __syncthreads();
    }
    if (valid)
        dst[at] = v;
}
