extern "C" __global__ void histogram(const int *__restrict__ data, unsigned *bins, int n)
{
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        const int4 v = *reinterpret_cast<const int4 *>(data + i);
        atomicAdd(&bins[v.x], 1u);
        atomicAdd(&bins[v.y], 1u);
        atomicAdd(&bins[v.z], 1u);
        atomicAdd(&bins[v.w], 1u);
    } else {
        for (int k = i; k < n; ++k)
            atomicAdd(&bins[data[k]], 1u);
    }
}
