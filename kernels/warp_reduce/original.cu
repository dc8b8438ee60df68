#define BLOCK 256
#define ROUNDS 64

extern "C" __global__ void mix(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n)
{
    __shared__ unsigned part[BLOCK];
    const int t = threadIdx.x;
    const int lane = t % 32;
    const int i = blockIdx.x * BLOCK + t;

    unsigned v = i < n ? in[i] : 0u;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        part[t] = v;
        __syncthreads();
        for (int step = 1; step < 32; step *= 2) {
            if (lane % (2 * step) == 0)
                part[t] += part[t + step];
            __syncthreads();
        }
        const unsigned total = part[t - lane];
        __syncthreads();
        v ^= total + round;
    }
    if (i < n)
        out[i] = v;
}
