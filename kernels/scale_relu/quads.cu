extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ scaled,
                                 float gain, float shift, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4 *>(x + i);
        v = make_float4(v.x * gain + shift, v.y * gain + shift, v.z * gain + shift, v.w * gain + shift);
        *reinterpret_cast<float4 *>(scaled + i) = v;
    } else {
        for (int k = i; k < n; ++k)
            scaled[k] = x[k] * gain + shift;
    }
}

extern "C" __global__ void relu(const float *__restrict__ scaled, float *__restrict__ y, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4 *>(scaled + i);
        v.x = v.x < 0.0f ? 0.0f : v.x;
        v.y = v.y < 0.0f ? 0.0f : v.y;
        v.z = v.z < 0.0f ? 0.0f : v.z;
        v.w = v.w < 0.0f ? 0.0f : v.w;
        *reinterpret_cast<float4 *>(y + i) = v;
    } else {
        for (int k = i; k < n; ++k)
            y[k] = scaled[k] < 0.0f ? 0.0f : scaled[k];
    }
}
