#define BINS 256
#define BLOCK 256

extern "C" __global__ void histogram(const int *__restrict__ data, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += BLOCK)
        mine[b] = 0u;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += BLOCK) {
        if (mine[b] > 0u)
            atomicAdd(&bins[b], mine[b]);
    }
}
