/* A HIP that records. Built as a shared library of its own, which the client
 * opens by name; tests look into it through these functions. Two devices. */
#ifndef INGOT_CLIENT_TESTING_FAKE_HIP_H_
#define INGOT_CLIENT_TESTING_FAKE_HIP_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_hip_launch {
  void* function;
  unsigned grid[3];
  unsigned block[3];
  unsigned lds_bytes;
  void* stream;
  int device;
  int cooperative;
  size_t kernarg_bytes;
  unsigned char kernarg[4096];
} fake_hip_launch;

typedef struct fake_hip_state {
  int device_count;   /* 2 */
  const char* target; /* "gfx950:sramecc+:xnack-" */
  int cu_count;       /* 256 */
  int init_error;     /* returned by hipInit */
  int load_error;     /* returned by hipModuleLoadData */
  int launch_error;   /* returned by launches */
  int loads;          /* modules loaded */
  int unloads;
  int loads_outside_relaxed_mode;
  int launches;
  fake_hip_launch last;
  void* fill_pointer;
  int fill_value;
  size_t fill_count;
  int fills;
  int events;       /* that exist */
  int event_error;  /* returned by hipEventRecord */
  int waits;        /* of hipEventSynchronize */
  float elapsed_ms; /* of hipEventElapsedTime, a launch between the events */
  int copied;       /* bytes that hipMemcpy copied */
} fake_hip_state;

/* Back to the defaults above. */
void fake_hip_reset(void);
fake_hip_state* fake_hip(void);
/* The calling thread's current device. */
void fake_hip_set_device(int device);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_CLIENT_TESTING_FAKE_HIP_H_ */
