#define BLOCK 1024

extern "C" __global__ void add_all(const float *__restrict__ in, float *total, int n)
{
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();

    for (int step = 1; step < BLOCK; step *= 2) {
        if (t % (2 * step) == 0)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(total, part[0]);
}
