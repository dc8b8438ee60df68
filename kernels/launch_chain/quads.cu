__device__ float apply(float v, int k)
{
    const float gain = 1.25f - 0.0625f * k;
    const float shift = 0.125f * k - 0.5f;
    v = v * gain + shift;
    return v < 0.0f ? 0.25f * v : v;
}

extern "C" __global__ void stage(const float *from, float *to, int k, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        const float4 v = *reinterpret_cast<const float4 *>(from + i);
        *reinterpret_cast<float4 *>(to + i) =
            make_float4(apply(v.x, k), apply(v.y, k), apply(v.z, k), apply(v.w, k));
    } else {
        for (int j = i; j < n; ++j)
            to[j] = apply(from[j], k);
    }
}
