#define TILE 32
#define TRIPS 32

extern "C" __global__ void clamp_kernel(const float *__restrict__ in, float *__restrict__ out,
                                        int width, int height, float lo, float hi)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t i = (size_t)y * width + x;

    float v = in[i];
    for (int trip = 0; trip < TRIPS; ++trip)
        v = v < lo ? lo : (v > hi ? hi : v);
    out[i] = v;
}
