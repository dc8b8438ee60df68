/* A CUDA driver without a GPU, so that the real PyCUDA can be tested anywhere: device memory is host memory, copies and
 * memsets are real, events read the clock. A launch is written to the log and computes nothing, unless STUB_CUDA_HOST
 * names a library with a host function of the kernel's name, which then gets the packed arguments.
 *
 * STUB_CUDA_LOG    file that gets a line for each load, launch, memset, allocation and free
 * STUB_CUDA_INTEGRATED  if set, the device shares the system's memory
 * STUB_CUDA_FAULT  no_device | die_at_start | out_of_memory | too_many_resources | illegal_address | launch_timeout | die | hang
 * STUB_CUDA_BLOCK  limits faults of launches to those with this block shape, such as 32x4x1
 */
#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_IMAGE = 200, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700, OUT_OF_RESOURCES = 701, LAUNCH_TIMEOUT = 702, NOT_SUPPORTED = 801 };

struct module { char *image; size_t size; };
struct function { char name[128]; int dynamic_shared; };
struct event { double ms; };
static CUresult sticky = OK;
static int context = 1, depth = 0;
static size_t live = 0;

static const char *fault(void)
{
    const char *value = getenv("STUB_CUDA_FAULT");
    return value ? value : "";
}

#define LOG(...) do { const char *path = getenv("STUB_CUDA_LOG"); FILE *log = path ? fopen(path, "a") : NULL; \
    if (log) { fprintf(log, __VA_ARGS__); fputc('\n', log); fclose(log); } } while (0)
#define LIVE do { if (sticky) return sticky; } while (0)

CUresult cuInit(unsigned flags)
{
    (void)flags;
    if (!strcmp(fault(), "die_at_start")) abort();
    return strcmp(fault(), "no_device") ? OK : NO_DEVICE;
}
CUresult cuDriverGetVersion(int *v) { *v = 13000; return OK; }
CUresult cuDeviceGetCount(int *n) { *n = 1; return OK; }
CUresult cuDeviceGet(int *d, int i) { *d = i; return i ? INVALID_VALUE : OK; }
CUresult cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, n, "NVIDIA Stub 121"); return OK; }
CUresult cuDeviceGetPCIBusId(char *s, int n, int d) { (void)d; snprintf(s, n, "0000:01:00.0"); return OK; }
CUresult cuDeviceComputeCapability(int *a, int *b, int d) { (void)d; *a = 12; *b = 1; return OK; }
CUresult cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = (size_t)1 << 31; return OK; }
CUresult cuDeviceGetAttribute(int *v, int which, int d)
{
    (void)d;
    switch (which) {
    case 8: *v = 49152; break;    /* shared memory a block */
    case 10: *v = 32; break;      /* warp */
    case 18: *v = getenv("STUB_CUDA_INTEGRATED") != NULL; break;
    case 16: *v = 48; break;      /* multiprocessors */
    case 38: *v = 1 << 20; break; /* L2 */
    case 39: *v = 1536; break;    /* threads a multiprocessor */
    case 75: *v = 12; break;
    case 76: *v = 1; break;
    case 81: *v = 102400; break;  /* shared memory a multiprocessor */
    case 82: *v = 65536; break;   /* registers a multiprocessor */
    case 97: *v = 101376; break;  /* shared memory a block, at most */
    case 106: *v = 24; break;     /* blocks a multiprocessor */
    case 111: *v = 1024; break;   /* shared memory that the system keeps of each block */
    default: *v = 0;
    }
    return OK;
}
CUresult cuGetErrorString(CUresult e, const char **s)
{
    *s = e == OUT_OF_MEMORY ? "out of memory" : e == NO_DEVICE ? "no CUDA-capable device is detected"
       : e == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
       : e == OUT_OF_RESOURCES ? "too many resources requested for launch"
       : e == LAUNCH_TIMEOUT ? "the launch timed out and was terminated"
       : e == NOT_FOUND ? "named symbol not found" : e == INVALID_IMAGE ? "device kernel image is invalid" : "other";
    return OK;
}

CUresult cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = &context; return OK; }
CUresult cuDevicePrimaryCtxRelease_v2(int d) { (void)d; LOG("release, %zu allocations live", live); return OK; }
CUresult cuCtxPushCurrent_v2(void *c) { (void)c; ++depth; return OK; }
CUresult cuCtxPopCurrent_v2(void **c) { if (c) *c = &context; if (depth) --depth; return OK; }
CUresult cuCtxGetDevice(int *d) { *d = 0; return depth ? OK : 201; }
CUresult cuCtxSynchronize(void) { return sticky; }

CUresult cuMemGetInfo_v2(size_t *f, size_t *t) { *f = (size_t)1 << 30; *t = (size_t)1 << 31; LIVE; return OK; }
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
    LIVE;
    if (!strcmp(fault(), "out_of_memory")) return OUT_OF_MEMORY;
    void *block = NULL;
    if (posix_memalign(&block, 256, n)) return OUT_OF_MEMORY;
    memset(block, 0xEE, n);
    *p = (CUdeviceptr)block;
    ++live;
    LOG("alloc %zu", n);
    return OK;
}
CUresult cuMemFree_v2(CUdeviceptr p) { LIVE; free((void *)p); --live; LOG("free, %zu live", live); return OK; }
CUresult cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n) { LIVE; memcpy((void *)d, s, n); return OK; }
CUresult cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n) { LIVE; memcpy(d, (void *)s, n); return OK; }
CUresult cuMemcpyDtoD_v2(CUdeviceptr d, CUdeviceptr s, size_t n) { LIVE; memcpy((void *)d, (void *)s, n); return OK; }
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, void *q) { (void)q; return cuMemcpyDtoD_v2(d, s, n); }
CUresult cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, void *q)
{
    (void)q;
    LIVE;
    for (size_t i = 0; i < n; ++i) ((unsigned *)d)[i] = v;
    LOG("memset %zu words", n);
    return OK;
}

CUresult cuStreamCreate(void **s, unsigned f) { (void)f; *s = &context; return OK; }
CUresult cuStreamDestroy_v2(void *s) { (void)s; return OK; }
CUresult cuStreamSynchronize(void *s) { (void)s; return sticky; }
CUresult cuEventCreate(struct event **e, unsigned f) { (void)f; *e = calloc(1, sizeof **e); return OK; }
CUresult cuEventDestroy_v2(struct event *e) { free(e); return OK; }
CUresult cuEventRecord(struct event *e, void *s)
{
    struct timespec now;
    (void)s;
    LIVE;
    clock_gettime(CLOCK_MONOTONIC, &now);
    e->ms = now.tv_sec * 1e3 + now.tv_nsec / 1e6;
    return OK;
}
CUresult cuEventSynchronize(struct event *e) { (void)e; return sticky; }
CUresult cuEventElapsedTime_v2(float *ms, struct event *a, struct event *b) { LIVE; *ms = (float)(b->ms - a->ms); return OK; }

CUresult cuModuleLoadDataEx(struct module **m, const void *image, unsigned n, void *o, void *v)
{
    const Elf64_Ehdr *h = image;
    (void)n, (void)o, (void)v;
    LIVE;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG)) return INVALID_IMAGE;
    *m = calloc(1, sizeof **m);
    (*m)->size = h->e_phoff > h->e_shoff ? h->e_phoff + (size_t)h->e_phnum * h->e_phentsize
                                         : h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
    (*m)->image = memcpy(malloc((*m)->size), image, (*m)->size);
    LOG("load %zu bytes", (*m)->size);
    return OK;
}
CUresult cuModuleLoadData(struct module **m, const void *image) { return cuModuleLoadDataEx(m, image, 0, NULL, NULL); }
CUresult cuModuleUnload(struct module *m) { free(m->image); free(m); return OK; }
CUresult cuModuleGetFunction(struct function **f, struct module *m, const char *name)
{
    char section[160];
    int n = snprintf(section, sizeof section, ".text.%s", name), found = 0;
    for (size_t i = 0; !found && i + n < m->size; ++i)
        found = !memcmp(m->image + i, section, n + 1);
    if (!found) return NOT_FOUND;
    *f = calloc(1, sizeof **f);
    snprintf((*f)->name, sizeof (*f)->name, "%s", name);
    return OK;
}
CUresult cuFuncGetAttribute(int *v, int which, struct function *f)
{
    (void)f;
    *v = which == 0 ? 1024 : which == 1 ? 4224 : which == 3 ? 8 : which == 4 ? 40 : 0; /* threads, shared, local, registers */
    return OK;
}
CUresult cuFuncSetAttribute(struct function *f, int which, int v) { if (which == 8) f->dynamic_shared = v; return OK; }
static unsigned block_shape[3];
CUresult cuFuncSetBlockShape(struct function *f, int x, int y, int z)
{
    (void)f;
    block_shape[0] = x, block_shape[1] = y, block_shape[2] = z;
    return OK;
}
CUresult cuLaunchKernel(struct function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **params, void **extra)
{
    char shape[64];
    const char *only = getenv("STUB_CUDA_BLOCK"), *host = getenv("STUB_CUDA_HOST");
    size_t size = extra ? *(size_t *)extra[3] : 0;
    (void)stream, (void)params;
    LIVE;
    snprintf(shape, sizeof shape, "%ux%ux%u", bx, by, bz);
    LOG("launch %s grid %ux%ux%u block %s shared %u arguments %zu bytes", f->name, gx, gy, gz, shape, shared, size);
    if (!only || !strcmp(only, shape)) {
        if (!strcmp(fault(), "too_many_resources")) return OUT_OF_RESOURCES;
        if (!strcmp(fault(), "illegal_address")) sticky = ILLEGAL_ADDRESS;
        if (!strcmp(fault(), "launch_timeout")) sticky = LAUNCH_TIMEOUT;
        if (!strcmp(fault(), "die")) raise(SIGSEGV);
        while (!strcmp(fault(), "hang")) sleep(1);
    }
    if (host && !sticky) {
        void *library = dlopen(host, RTLD_NOW | RTLD_LOCAL);
        void (*run)(const void *, const unsigned *, const unsigned *) = library ? dlsym(library, f->name) : NULL;
        unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
        if (!run) return NOT_FOUND;
        run(extra[1], grid, block);
    }
    return OK;
}

/* NVRTC asks the driver for tables of private calls; this one says that it is as long as its own length and holds none. */
CUresult cuGetExportTable(const void **table, const void *id)
{
    static const uint64_t empty[1] = {sizeof empty};
    (void)id;
    *table = empty;
    return OK;
}

/* What PyCUDA links to and these tests do not use. */
#define NO(name) CUresult name(void) { return NOT_SUPPORTED; }
NO(cuArray3DCreate_v2) NO(cuArray3DGetDescriptor_v2) NO(cuArrayCreate_v2) NO(cuArrayDestroy) NO(cuArrayGetDescriptor_v2)
NO(cuCtxAttach) NO(cuCtxCreate_v2) NO(cuCtxCreate_v4) NO(cuCtxDetach) NO(cuCtxDisablePeerAccess) NO(cuCtxEnablePeerAccess)
NO(cuCtxGetApiVersion) NO(cuCtxGetCacheConfig) NO(cuCtxGetLimit) NO(cuCtxGetSharedMemConfig) NO(cuCtxSetCacheConfig)
NO(cuCtxSetLimit) NO(cuCtxSetSharedMemConfig) NO(cuDeviceCanAccessPeer) NO(cuDeviceGetByPCIBusId) NO(cuEventQuery)
NO(cuFuncSetCacheConfig) NO(cuFuncSetSharedSize) NO(cuIpcCloseMemHandle) NO(cuIpcGetEventHandle) NO(cuIpcGetMemHandle)
NO(cuIpcOpenEventHandle) NO(cuIpcOpenMemHandle_v2) NO(cuLaunch) NO(cuLaunchGrid) NO(cuLaunchGridAsync)
NO(cuLinkAddData_v2) NO(cuLinkAddFile_v2) NO(cuLinkComplete) NO(cuLinkCreate_v2) NO(cuLinkDestroy) NO(cuMemAllocManaged)
NO(cuMemAllocPitch_v2) NO(cuMemFreeHost) NO(cuMemGetAddressRange_v2) NO(cuMemHostAlloc) NO(cuMemHostGetDevicePointer_v2)
NO(cuMemHostGetFlags) NO(cuMemHostRegister_v2) NO(cuMemHostUnregister) NO(cuMemcpy2DAsync_v2) NO(cuMemcpy2DUnaligned_v2)
NO(cuMemcpy2D_v2) NO(cuMemcpy3DAsync_v2) NO(cuMemcpy3DPeer) NO(cuMemcpy3DPeerAsync) NO(cuMemcpy3D_v2) NO(cuMemcpyAtoA_v2)
NO(cuMemcpyAtoD_v2) NO(cuMemcpyAtoH_v2) NO(cuMemcpyDtoA_v2) NO(cuMemcpyDtoHAsync_v2) NO(cuMemcpyHtoA_v2)
NO(cuMemcpyHtoDAsync_v2) NO(cuMemcpyPeer) NO(cuMemcpyPeerAsync) NO(cuMemsetD16Async) NO(cuMemsetD16_v2)
NO(cuMemsetD2D16Async) NO(cuMemsetD2D16_v2) NO(cuMemsetD2D32Async) NO(cuMemsetD2D32_v2) NO(cuMemsetD2D8Async)
NO(cuMemsetD2D8_v2) NO(cuMemsetD32_v2) NO(cuMemsetD8Async) NO(cuMemsetD8_v2) NO(cuModuleGetGlobal_v2)
NO(cuModuleGetSurfRef) NO(cuModuleGetTexRef) NO(cuModuleLoad) NO(cuParamSetSize) NO(cuParamSetTexRef) NO(cuParamSetf)
NO(cuParamSeti) NO(cuParamSetv) NO(cuProfilerInitialize) NO(cuProfilerStart) NO(cuProfilerStop) NO(cuStreamAttachMemAsync)
NO(cuStreamQuery) NO(cuStreamWaitEvent) NO(cuSurfRefGetArray) NO(cuSurfRefSetArray) NO(cuTexRefCreate) NO(cuTexRefDestroy)
NO(cuTexRefGetAddressMode) NO(cuTexRefGetAddress_v2) NO(cuTexRefGetArray) NO(cuTexRefGetFilterMode) NO(cuTexRefGetFlags)
NO(cuTexRefGetFormat) NO(cuTexRefSetAddress2D_v3) NO(cuTexRefSetAddressMode) NO(cuTexRefSetAddress_v2)
NO(cuTexRefSetArray) NO(cuTexRefSetFilterMode) NO(cuTexRefSetFlags) NO(cuTexRefSetFormat) NO(cuEventElapsedTime)
NO(cuDevicePrimaryCtxRelease)
