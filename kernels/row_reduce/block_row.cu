#define BLOCK 256

extern "C" __global__ void sum_rows(const float *__restrict__ in, float *__restrict__ sums, int cols)
{
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    const float *line = in + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int c = t; c < cols; c += BLOCK)
        sum += line[c];

    part[t] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
