#define BLOCK 256
#define LOWEST (-3.402823466e38f)

// A maximum, and the sum of the exponentials relative to it.
struct Running {
    float top;
    float sum;
};

__device__ Running join(Running a, Running b)
{
    Running r;
    r.top = fmaxf(a.top, b.top);
    r.sum = a.sum * expf(a.top - r.top) + b.sum * expf(b.top - r.top);
    return r;
}

extern "C" __global__ void row_top_sum(const float *__restrict__ x, float *__restrict__ top,
                                       float *__restrict__ total, int cols)
{
    __shared__ Running part[BLOCK];
    const int t = threadIdx.x;
    const float *line = x + (size_t)blockIdx.x * cols;
    Running r = {LOWEST, 0.0f};
    for (int c = t; c < cols; c += BLOCK) {
        const float v = line[c];
        const float m = fmaxf(r.top, v);
        r.sum = r.sum * expf(r.top - m) + expf(v - m);
        r.top = m;
    }
    part[t] = r;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] = join(part[t], part[t + half]);
        __syncthreads();
    }
    if (t == 0) {
        top[blockIdx.x] = part[0].top;
        total[blockIdx.x] = part[0].sum;
    }
}

extern "C" __global__ void row_normalise(const float *__restrict__ x, const float *__restrict__ top,
                                         const float *__restrict__ total, float *__restrict__ y, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    const float m = top[blockIdx.x];
    const float share = 1.0f / total[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[at + c] = expf(x[at + c] - m) * share;
}
