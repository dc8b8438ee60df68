#define CHANNELS 8
#define GROUP 2

// One thread two channels of a pixel; blockIdx.y is the pair of channels, blockIdx.z the image.
extern "C" __global__ void planes_to_pixels(const float *__restrict__ planes, float *__restrict__ pixels,
                                            int area)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y * GROUP;
    if (p >= area)
        return;
    const size_t image = (size_t)blockIdx.z * CHANNELS * area;
    const float *plane = planes + image + (size_t)c * area + p;
    const float2 v = make_float2(plane[0], plane[(size_t)area]);
    *reinterpret_cast<float2 *>(pixels + image + (size_t)p * CHANNELS + c) = v;
}
