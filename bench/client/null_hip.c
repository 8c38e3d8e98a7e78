/* A HIP whose device is an MI350 and whose launches do nothing but count: what
 * is timed with it is the client's own. */
#include <string.h>

enum { PROPERTIES_BYTES = 1472, GCN_ARCH_NAME_OFFSET = 1160, CU_COUNT = 63 };

static unsigned long launches;

unsigned long null_hip_launches(void) { return launches; }

int hipInit(unsigned flags) {
  (void)flags;
  return 0;
}

int hipGetDevice(int* device) {
  *device = 0;
  return 0;
}

int hipGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}

int hipGetDevicePropertiesR0600(void* properties, int device) {
  (void)device;
  memset(properties, 0, PROPERTIES_BYTES);
  strcpy((char*)properties + GCN_ARCH_NAME_OFFSET, "gfx950:sramecc+:xnack-");
  return 0;
}

int hipDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == CU_COUNT ? 256 : 0;
  return 0;
}

int hipModuleLoadData(void** module, const void* image) {
  *module = (void*)image;
  return 0;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
  (void)name;
  *function = module;
  return 0;
}

int hipModuleUnload(void* module) {
  (void)module;
  return 0;
}

int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned lds_bytes, void* stream,
                          void** params, void** extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z;
  (void)block_x, (void)block_y, (void)block_z, (void)lds_bytes;
  (void)stream, (void)params, (void)extra;
  ++launches;
  return 0;
}

int hipMemsetD32Async(void* to, int value, size_t count, void* stream) {
  (void)to, (void)value, (void)count, (void)stream;
  return 0;
}
