#define BINS 256
#define BLOCK 32
#define EACH 2

extern "C" __global__ void histogram(const int *__restrict__ data, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    const int t = threadIdx.x;
    const int first = blockIdx.x * BLOCK * EACH + t;
    for (int b = t; b < BINS; b += BLOCK)
        mine[b] = 0u;
    __syncwarp();
    for (int k = 0; k < EACH; ++k) {
        const int i = first + k * BLOCK;
        if (i < n)
            atomicAdd(&mine[data[i]], 1u);
    }
    __syncwarp();
    for (int b = t; b < BINS; b += BLOCK) {
        if (mine[b] > 0u)
            atomicAdd(&bins[b], mine[b]);
    }
}
