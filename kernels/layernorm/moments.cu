#define BLOCK 256

// Count, mean and sum of squared deviations, which two parts can be joined by (Chan, Golub, LeVeque).
struct Moments {
    float count;
    float mean;
    float squares;
};

__device__ Moments join(Moments a, Moments b)
{
    const float count = a.count + b.count;
    if (count == 0.0f)
        return a;
    const float d = b.mean - a.mean;
    const float share = b.count / count;
    return Moments{count, a.mean + d * share, a.squares + b.squares + d * d * a.count * share};
}

extern "C" __global__ void row_moments(const float *__restrict__ x, float *__restrict__ mean,
                                       float *__restrict__ scale, int cols, float epsilon)
{
    __shared__ Moments part[BLOCK];
    const int t = threadIdx.x;
    const float *line = x + (size_t)blockIdx.x * cols;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int c = t; c < cols; c += BLOCK) {
        const float v = line[c];
        const float d = v - m.mean;
        m.count += 1.0f;
        m.mean += d / m.count;
        m.squares += d * (v - m.mean);
    }
    part[t] = m;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] = join(part[t], part[t + half]);
        __syncthreads();
    }
    if (t == 0) {
        const Moments all = part[0];
        mean[blockIdx.x] = all.mean;
        scale[blockIdx.x] = rsqrtf(all.squares / cols + epsilon);
    }
}

extern "C" __global__ void normalise(const float *__restrict__ x, const float *__restrict__ mean,
                                     const float *__restrict__ scale, const float *__restrict__ gamma,
                                     const float *__restrict__ beta, float *__restrict__ y, int cols)
{
    const size_t at = (size_t)blockIdx.x * cols;
    const float mu = mean[blockIdx.x];
    const float s = scale[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        y[at + c] = (x[at + c] - mu) * s * gamma[c] + beta[c];
}
