// ingot.h: the library itself, and specs without a client.
#include <cstdlib>
#include <cstring>

#include "client/include/ingot/ingot.h"
#include "client/src/last_error.h"
#include "client/src/spec_message.h"

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
  std::string hash;
  const ingot::client::Status status =
      ingot::client::DigestSpec(spec, "gfx950", &hash);
  if (!status.ok()) return Report(status);
  memcpy(digest, hash.data(), hash.size());
  return INGOT_OK;
}

}  // extern "C"
