/* The three NVML calls that the clock is read with, answered from the environment. */
#include <stdlib.h>

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle) { *handle = (void *)bus; return 0; }
int nvmlDeviceGetClockInfo(void *handle, int kind, unsigned *mhz)
{
    const char *clock = getenv("STUB_NVML_MHZ");
    if (!handle || kind != 1 || !clock) return 3; /* not supported */
    *mhz = (unsigned)atoi(clock);
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void *handle, int kind, unsigned *mhz) { *mhz = 1980; return !handle || kind != 1; }
int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons)
{
    const char *bits = getenv("STUB_NVML_REASONS");
    *reasons = bits ? strtoull(bits, NULL, 0) : 0;
    return !handle;
}
