#define CHANNELS 8

// One thread a pixel; blockIdx.z is the image.
extern "C" __global__ void planes_to_pixels(const float *__restrict__ planes, float *__restrict__ pixels,
                                            int area)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= area)
        return;
    const size_t image = (size_t)blockIdx.z * CHANNELS * area;
    float v[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
        v[c] = planes[image + (size_t)c * area + p];

    float4 *pixel = reinterpret_cast<float4 *>(pixels + image + (size_t)p * CHANNELS);
    pixel[0] = make_float4(v[0], v[1], v[2], v[3]);
    pixel[1] = make_float4(v[4], v[5], v[6], v[7]);
}
