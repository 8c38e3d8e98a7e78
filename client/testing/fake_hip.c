#include "client/testing/fake_hip.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GCN_ARCH_NAME_OFFSET = 1160, RELAXED = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static fake_hip_state state;
static _Thread_local int current_device;
static _Thread_local int capture_mode;

fake_hip_state* fake_hip(void) { return &state; }

void fake_hip_reset(void) {
  memset(&state, 0, sizeof(state));
  state.device_count = 2;
  state.target = "gfx950:sramecc+:xnack-";
  state.cu_count = 256;
  current_device = 0;
}

void fake_hip_set_device(int device) { current_device = device; }

int hipInit(unsigned flags) {
  (void)flags;
  return state.init_error;
}

int hipGetDevice(int* device) {
  *device = current_device;
  return 0;
}

int hipGetDeviceCount(int* count) {
  *count = state.device_count;
  return state.device_count == 0 ? 100 : 0;
}

int hipGetDevicePropertiesR0600(void* properties, int device) {
  (void)device;
  memset(properties, 0, 1472);
  strcpy(properties, "gfx, or so the name says");
  strcpy((char*)properties + GCN_ARCH_NAME_OFFSET, state.target);
  return 0;
}

int hipDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 63 ? state.cu_count : -1;
  return 0;
}

int hipModuleLoadData(void** module, const void* image) {
  pthread_mutex_lock(&mutex);
  const int error = state.load_error;
  if (error == 0) ++state.loads;
  if (capture_mode != RELAXED) ++state.loads_outside_relaxed_mode;
  pthread_mutex_unlock(&mutex);
  *module = (void*)image;
  return error;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  if (strncmp(name, "missing", 7) == 0) return 500;
  /* Distinct per name, and the same on every device. */
  uintptr_t hash = 1;
  while (*name != '\0') hash = hash * 31 + (unsigned char)*name++;
  *function = (void*)hash;
  return 0;
}

int hipModuleUnload(void* module) {
  (void)module;
  pthread_mutex_lock(&mutex);
  ++state.unloads;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int hipThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}

static int record(fake_hip_launch launch) {
  pthread_mutex_lock(&mutex);
  const int error = state.launch_error;
  if (error == 0) {
    launch.device = current_device;
    state.last = launch;
    ++state.launches;
  }
  pthread_mutex_unlock(&mutex);
  return error;
}

int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz,
                          unsigned bx, unsigned by, unsigned bz,
                          unsigned lds_bytes, void* stream, void** params,
                          void** extra) {
  fake_hip_launch launch = {
      function, {gx, gy, gz}, {bx, by, bz}, lds_bytes, stream};
  if (params != NULL || extra == NULL) return 1;
  for (size_t i = 0; extra[i] != (void*)3; i += 2) {
    if (extra[i] == (void*)2) launch.kernarg_bytes = *(size_t*)extra[i + 1];
  }
  if (launch.kernarg_bytes > sizeof(launch.kernarg)) return 1;
  for (size_t i = 0; extra[i] != (void*)3; i += 2) {
    if (extra[i] == (void*)1) {
      memcpy(launch.kernarg, extra[i + 1], launch.kernarg_bytes);
    }
  }
  return record(launch);
}

int hipModuleLaunchCooperativeKernel(void* function, unsigned gx, unsigned gy,
                                     unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned lds_bytes,
                                     void* stream, void** params) {
  fake_hip_launch launch = {
      function, {gx, gy, gz}, {bx, by, bz}, lds_bytes, stream};
  launch.cooperative = 1;
  memcpy(launch.kernarg, params[0], 8);
  return record(launch);
}

int hipMemsetD32Async(void* to, int value, size_t count, void* stream) {
  (void)stream;
  pthread_mutex_lock(&mutex);
  state.fill_pointer = to;
  state.fill_value = value;
  state.fill_count = count;
  ++state.fills;
  pthread_mutex_unlock(&mutex);
  return 0;
}

/* An event is the number of launches before it. */
int hipEventCreate(void** event) {
  *event = calloc(1, sizeof(int));
  ++state.events;
  return 0;
}

int hipEventDestroy(void* event) {
  free(event);
  --state.events;
  return 0;
}

int hipEventRecord(void* event, void* stream) {
  (void)stream;
  *(int*)event = state.launches;
  return state.event_error;
}

int hipEventSynchronize(void* event) {
  (void)event;
  ++state.waits;
  return 0;
}

int hipEventElapsedTime(float* milliseconds, void* start, void* stop) {
  const int launches = *(int*)stop - *(int*)start;
  *milliseconds = state.elapsed_ms * (float)launches;
  return 0;
}

int hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  if (kind != 2) return 1;
  memcpy(to, from, bytes);
  state.copied += (int)bytes;
  return 0;
}

const char* hipGetErrorString(int error) {
  return error == 98 ? "invalid device function" : "some error";
}
