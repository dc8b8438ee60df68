#define BINS 256
#define BLOCK 256

extern "C" __global__ void histogram(const int *__restrict__ data, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    const int t = threadIdx.x;
    mine[t] = 0u;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    if (mine[t] > 0u)
        atomicAdd(&bins[t], mine[t]);
}
