#define BLOCK 256
#define ROUNDS 64
#define FULL 0xffffffffu

extern "C" __global__ void mix(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    unsigned v = i < n ? in[i] : 0u;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        const unsigned total = __reduce_add_sync(FULL, v);
        v ^= total + round;
    }
    if (i < n)
        out[i] = v;
}
