// Rule 3 of ingot.h for a struct that a caller must give.
#ifndef INGOT_CLIENT_SRC_CHECK_STRUCT_H_
#define INGOT_CLIENT_SRC_CHECK_STRUCT_H_

#include "client/src/abi_size.h"
#include "client/src/status.h"

namespace ingot::client {

template <typename T>
Status CheckStruct(const char* name, const T* object) {
  if (object == nullptr) {
    return Error(INGOT_INVALID_ARGUMENT, "%s: found NULL, allowed a struct",
                 name);
  }
  if (ingot_size_ok(object, object->size, sizeof(T))) return Status();
  return Error(INGOT_INVALID_ARGUMENT,
               "%s size: found %u, allowed %zu, or more with zeros", name,
               object->size, sizeof(T));
}

// For a pointer through which a result is handed out.
inline Status NullOutput(const char* name) {
  return Error(INGOT_INVALID_ARGUMENT,
               "%s: found NULL, allowed where to put the result", name);
}

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CHECK_STRUCT_H_
