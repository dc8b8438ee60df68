#define CHANNELS 8
#define GROUP 4

// One thread four channels of a pixel; blockIdx.y is the group of channels, blockIdx.z the image.
extern "C" __global__ void planes_to_pixels(const float *__restrict__ planes, float *__restrict__ pixels,
                                            int area)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y * GROUP;
    if (p >= area)
        return;
    const size_t image = (size_t)blockIdx.z * CHANNELS * area;
    const float *plane = planes + image + (size_t)c * area + p;
    float4 v;
    v.x = plane[0];
    v.y = plane[(size_t)area];
    v.z = plane[(size_t)area * 2];
    v.w = plane[(size_t)area * 3];
    *reinterpret_cast<float4 *>(pixels + image + (size_t)p * CHANNELS + c) = v;
}
