/* Rule 3 of ingot.h: which struct sizes this build of the library takes. */
#ifndef INGOT_CLIENT_SRC_ABI_SIZE_H_
#define INGOT_CLIENT_SRC_ABI_SIZE_H_

#include <stddef.h>
#include <stdint.h>

/* Whether a struct that states `size` can be read as one of `known` bytes: it
 * is at least as long as the `first` one that was published, with nothing but
 * zeros in what we do not know. */
static inline int ingot_size_between(const void* object, uint32_t size,
                                     size_t first, size_t known) {
  if (size < first || size > 4096) return 0;
  const unsigned char* bytes = (const unsigned char*)object;
  for (size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return 0;
  }
  return 1;
}

/* The same for a struct that has not grown yet. */
static inline int ingot_size_ok(const void* object, uint32_t size,
                                size_t known) {
  return ingot_size_between(object, size, known, known);
}

#endif /* INGOT_CLIENT_SRC_ABI_SIZE_H_ */
