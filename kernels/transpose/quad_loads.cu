#define CHANNELS 8

// One thread four neighbouring pixels of a plane; blockIdx.y is the channel, blockIdx.z the image.
extern "C" __global__ void planes_to_pixels(const float *__restrict__ planes, float *__restrict__ pixels,
                                            int area)
{
    const int p = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int c = blockIdx.y;
    if (p >= area)
        return;
    const size_t image = (size_t)blockIdx.z * CHANNELS * area;
    const float4 v = *reinterpret_cast<const float4 *>(planes + image + (size_t)c * area + p);
    float *pixel = pixels + image + (size_t)p * CHANNELS + c;
    pixel[0] = v.x;
    pixel[CHANNELS] = v.y;
    pixel[CHANNELS * 2] = v.z;
    pixel[CHANNELS * 3] = v.w;
}
