#define BLOCK 256

// Adds the second half of every row to the first; the middle element of an odd width has no partner.
extern "C" __global__ void fold(const float *from, int from_pitch, float *to, int to_pitch, int width)
{
    const int half = (width + 1) / 2;
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= half)
        return;
    const float *line = from + (size_t)blockIdx.y * from_pitch;
    float sum = line[c];
    if (c + half < width)
        sum += line[c + half];
    to[(size_t)blockIdx.y * to_pitch + c] = sum;
}

extern "C" __global__ void take_first(const float *__restrict__ from, int pitch, float *__restrict__ sums,
                                      int rows)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row < rows)
        sums[row] = from[(size_t)row * pitch];
}
