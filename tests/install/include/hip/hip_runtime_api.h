/* The few calls that the examples use, for machines without ROCm's headers. */
#ifndef HIP_RUNTIME_API_H_
#define HIP_RUNTIME_API_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { hipSuccess = 0 } hipError_t;
typedef enum {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2
} hipMemcpyKind;

hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes,
                     hipMemcpyKind kind);

#ifdef __cplusplus
}
#endif

#endif
