// The words behind an ingot_client. Never freed, so that a client that was
// destroyed is told from one that was not.
#ifndef INGOT_CLIENT_SRC_CLIENT_HANDLE_H_
#define INGOT_CLIENT_SRC_CLIENT_HANDLE_H_

#include <atomic>

#include "client/src/client.h"

struct ingot_client {
  std::atomic<ingot::client::Client*> client = nullptr;
  ingot_client* next = nullptr;
};

namespace ingot::client {

// nullptr when `handle` is none or was destroyed.
inline Client* Get(const ingot_client* handle) {
  if (handle == nullptr) return nullptr;
  return handle->client.load(std::memory_order_acquire);
}

inline Status NoClient() {
  return Error(INGOT_INVALID_ARGUMENT,
               "client: found NULL or a destroyed one, allowed a client");
}

inline Status NoPrepared() {
  return Error(INGOT_INVALID_ARGUMENT,
               "prepared: found NULL or a released one, allowed a handle of "
               "ingot_prepare");
}

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CLIENT_HANDLE_H_
