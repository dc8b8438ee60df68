__device__ float apply(float x, float gain, float shift)
{
    const float v = x * gain + shift;
    return v < 0.0f ? 0.0f : v;
}

extern "C" __global__ void scale_relu(const float *__restrict__ x, float *__restrict__ y,
                                      float gain, float shift, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        const float4 v = *reinterpret_cast<const float4 *>(x + i);
        *reinterpret_cast<float4 *>(y + i) =
            make_float4(apply(v.x, gain, shift), apply(v.y, gain, shift),
                        apply(v.z, gain, shift), apply(v.w, gain, shift));
    } else {
        for (int k = i; k < n; ++k)
            y[k] = apply(x[k], gain, shift);
    }
}
