#define EACH 4

extern "C" __global__ void copy_table(const float *__restrict__ in, float *__restrict__ out,
                                      int rows, int cols)
{
    const size_t count = (size_t)rows * cols;
    const size_t first = (size_t)blockIdx.x * blockDim.x * EACH + threadIdx.x;
    float v[EACH];

#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const size_t i = first + k * blockDim.x;
        v[k] = i < count ? in[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const size_t i = first + k * blockDim.x;
        if (i < count)
            out[i] = v[k];
    }
}
