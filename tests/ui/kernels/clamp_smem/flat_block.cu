#define TILE 32
#define ROWS 4
#define TRIPS 32

extern "C" __global__ void clamp_kernel(const float *__restrict__ in, float *__restrict__ out,
                                        int width, int height, float lo, float hi)
{
    __shared__ float tile[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * TILE + tx;
    const int y = blockIdx.y * ROWS + ty;
    const bool inside = x < width && y < height;
    const size_t i = (size_t)y * width + x;

    float v = inside ? in[i] : 0.0f;
    tile[tx][ty] = v;
    __syncthreads();
    for (int trip = 0; trip < TRIPS; ++trip) {
        v = tile[tx][ty];
        v = v < lo ? lo : (v > hi ? hi : v);
        tile[tx][ty] = v;
        __syncthreads();
    }
    if (inside)
        out[i] = v;
}
