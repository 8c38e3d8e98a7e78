// ingot.h: the library itself, and specs without a client.
#include <cstdlib>
#include <cstring>

#include "client/include/ingot/ingot.h"
#include "client/src/canonical.h"
#include "client/src/code_object.h"
#include "client/src/last_error.h"

#define INGOT_TEXT_(x) #x
#define INGOT_TEXT(x) INGOT_TEXT_(x)

extern "C" {

INGOT_API const char* ingot_version(void) {
  return INGOT_TEXT(INGOT_VERSION_MAJOR) "." INGOT_TEXT(
      INGOT_VERSION_MINOR) "." INGOT_TEXT(INGOT_VERSION_PATCH);
}

INGOT_API const char* ingot_status_name(ingot_status status) {
  static const char* const names[] = {"OK",
                                      "CANCELLED",
                                      "UNKNOWN",
                                      "INVALID_ARGUMENT",
                                      "DEADLINE_EXCEEDED",
                                      "NOT_FOUND",
                                      "ALREADY_EXISTS",
                                      "PERMISSION_DENIED",
                                      "RESOURCE_EXHAUSTED",
                                      "FAILED_PRECONDITION",
                                      "ABORTED",
                                      "OUT_OF_RANGE",
                                      "UNIMPLEMENTED",
                                      "INTERNAL",
                                      "UNAVAILABLE",
                                      "DATA_LOSS",
                                      "UNAUTHENTICATED"};
  const bool known = status >= 0 && status <= INGOT_UNAUTHENTICATED;
  return names[known ? status : INGOT_UNKNOWN];
}

INGOT_API const char* ingot_last_error(void) {
  return ingot::client::LastError();
}

INGOT_API void ingot_free(void* memory) { free(memory); }

INGOT_API ingot_status ingot_spec_digest(const ingot_spec* spec,
                                         uint8_t digest[32]) {
  using ingot::client::Error;
  using ingot::client::Report;
  if (digest == nullptr) {
    return Report(
        Error(INGOT_INVALID_ARGUMENT, "digest: found NULL, allowed 32 bytes"));
  }
  uint8_t* encoding = nullptr;
  size_t size = 0;
  char error[512];
  const ingot_status status = ingot_canonical_encode(
      spec, "gfx950", &encoding, &size, error, sizeof(error));
  if (status != INGOT_OK) return Report(Error(status, "%s", error));
  const std::string hash = ingot::client::Sha256(encoding, size);
  free(encoding);
  if (hash.size() != 32) {
    return Report(Error(INGOT_INTERNAL, "libcrypto has no SHA-256"));
  }
  memcpy(digest, hash.data(), hash.size());
  return INGOT_OK;
}

}  // extern "C"
