#define BLOCK 256
#define ROUNDS 64

extern "C" __global__ void mix(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n)
{
    __shared__ unsigned part[BLOCK];
    const int t = threadIdx.x;
    const int first = t - t % 32;
    const int i = blockIdx.x * BLOCK + t;

    unsigned v = i < n ? in[i] : 0u;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        part[t] = v;
        __syncwarp();
        unsigned total = 0u;
        for (int k = 0; k < 32; ++k)
            total += part[first + k];
        __syncwarp();
        v ^= total + round;
    }
    if (i < n)
        out[i] = v;
}
