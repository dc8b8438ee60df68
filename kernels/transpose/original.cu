#define CHANNELS 8

// One thread an element of the planar image; blockIdx.y is the channel, blockIdx.z the image.
extern "C" __global__ void planes_to_pixels(const float *__restrict__ planes, float *__restrict__ pixels,
                                            int area)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y;
    if (p >= area)
        return;
    const size_t image = (size_t)blockIdx.z * CHANNELS * area;
    pixels[image + (size_t)p * CHANNELS + c] = planes[image + (size_t)c * area + p];
}
