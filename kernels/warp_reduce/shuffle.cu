#define BLOCK 256
#define ROUNDS 64
#define FULL 0xffffffffu

extern "C" __global__ void mix(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    unsigned v = i < n ? in[i] : 0u;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        unsigned total = v;
        for (int mask = 16; mask > 0; mask /= 2)
            total += __shfl_xor_sync(FULL, total, mask);
        v ^= total + round;
    }
    if (i < n)
        out[i] = v;
}
