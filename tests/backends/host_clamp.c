/* What clamp_kernel computes, on the host, from the arguments as PyCUDA packed them; PAST_THE_END makes it write four
 * bytes more than there are. */
struct arguments { const float *in; float *out; int width, height; float lo, hi; };

void clamp_kernel(const struct arguments *a, const unsigned *grid, const unsigned *block)
{
    const int columns = grid[0] * block[0], rows = grid[1] * block[1];
    for (int y = 0; y < rows && y < a->height; ++y)
        for (int x = 0; x < columns && x < a->width; ++x) {
            const float v = a->in[(long)y * a->width + x];
            a->out[(long)y * a->width + x] = v < a->lo ? a->lo : (v > a->hi ? a->hi : v);
        }
#ifdef PAST_THE_END
    a->out[(long)a->height * a->width] = 0.0f;
#endif
}
