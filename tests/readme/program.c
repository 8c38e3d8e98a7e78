/* A program around the two functions of the README: rows of ones with weights
 * of two must come out as two. Memory comes from the HIP that INGOT_HIP_LIBRARY
 * names, which must let the host write device memory through hipMemcpy. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readme_code.h"

enum { kRows = 3, kN = 4096, kHostToDevice = 1, kDeviceToHost = 2 };

static int Fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, ingot_last_error());
  return 1;
}

int main(void) {
  void* hip = dlopen(getenv("INGOT_HIP_LIBRARY"), RTLD_NOW);
  if (hip == NULL) return Fail(dlerror());
  int (*hip_malloc)(void**, size_t);
  int (*hip_memcpy)(void*, const void*, size_t, int);
  *(void**)&hip_malloc = dlsym(hip, "hipMalloc");
  *(void**)&hip_memcpy = dlsym(hip, "hipMemcpy");

  const size_t count = (size_t)kRows * kN;
  uint16_t* host = malloc(count * sizeof(*host));
  void *x, *weight, *y;
  hip_malloc(&x, count * 2);
  hip_malloc(&weight, kN * 2);
  hip_malloc(&y, count * 2);
  for (size_t i = 0; i < count; ++i) host[i] = 0x3f80; /* 1.0 */
  hip_memcpy(x, host, count * 2, kHostToDevice);
  for (size_t i = 0; i < kN; ++i) host[i] = 0x4000; /* 2.0 */
  hip_memcpy(weight, host, kN * 2, kHostToDevice);

  ingot_client* client;
  ingot_prepared* rmsnorm;
  if (ingot_client_create(NULL, &client) != INGOT_OK) return Fail("create");
  if (prepare_rmsnorm(client, kN, &rmsnorm) != INGOT_OK) return Fail("prepare");
  if (launch_rmsnorm(rmsnorm, NULL, kRows, kN, x, weight, y) != INGOT_OK) {
    return Fail("launch");
  }
  memset(host, 0, count * sizeof(*host));
  hip_memcpy(host, y, count * 2, kDeviceToHost);
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += host[i] != 0x4000;
  printf("%zu of %zu elements are wrong\n", wrong, count);
  ingot_prepared_release(rmsnorm);
  ingot_client_destroy(client);
  free(host);
  return wrong != 0;
}
