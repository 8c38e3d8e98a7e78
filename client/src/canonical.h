/* The C half of proto/canonical.md: checks a spec that has no encoding and
 * writes the bytes whose SHA-256 is the spec digest. Shares no code with the
 * daemon's; both are held against proto/vectors. Threads: pure functions. */
#ifndef INGOT_CLIENT_SRC_CANONICAL_H_
#define INGOT_CLIENT_SRC_CANONICAL_H_

#include <stddef.h>
#include <stdint.h>

#include "client/include/ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  INGOT_MAX_DIMS = 64,
  INGOT_MAX_OPERANDS = 32,
  INGOT_MAX_ATTRS = 64,
  INGOT_MAX_TUNING = 64,
  INGOT_MAX_STRIDES = 8,
  INGOT_MAX_NAME = 64,
  INGOT_MAX_STRING = 256
};

/* Element `index` of an array of structs, stepped by the size its first element
 * states (rule 3 of ingot.h). */
#define INGOT_AT(type, array, index) \
  ((const type*)((const char*)(array) + (size_t)(index) * (array)->size))

/* Whether a dim of this name changes from step to step and is never baked. */
int ingot_is_token_dim(const char* name);

/* Writes the canonical form of `target` ("GFX950:xnack-" -> "gfx950:xnack-") to
 * `out`, which holds at least 64 bytes. INVALID_ARGUMENT for what cannot be
 * parsed, UNIMPLEMENTED for another processor; then `error` says why. */
ingot_status ingot_canonical_target(const char* target, char* out, char* error,
                                    size_t error_size);

/* Checks `spec`'s struct sizes, pointers, counts and everything that
 * canonical.md refuses, and writes the encoding to *data, which the caller
 * frees with free(). `default_target` stands in for a spec's NULL target.
 * INVALID_ARGUMENT, UNIMPLEMENTED or RESOURCE_EXHAUSTED (no memory); then
 * `error` says what was found and what is allowed. */
ingot_status ingot_canonical_encode(const ingot_spec* spec,
                                    const char* default_target, uint8_t** data,
                                    size_t* size, char* error,
                                    size_t error_size);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_CLIENT_SRC_CANONICAL_H_ */
