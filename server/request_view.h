// A GetKernelRequest looked at in place: the hot path never builds a message.
#ifndef INGOT_SERVER_REQUEST_VIEW_H_
#define INGOT_SERVER_REQUEST_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ingot/v1/kernels.pb.h"
#include "proto/status.h"

namespace ingot::server {

inline constexpr uint32_t kApiVersion = 1;

// Views point into the request's bytes.
struct RequestView {
  uint32_t api_version = 0;
  absl::string_view spec;
  v1::Fetch fetch = v1::FETCH_ALL;
  std::vector<uint32_t> variants;
  std::vector<absl::string_view> held_digests;
  v1::Priority priority = v1::PRIORITY_INTERACTIVE;
  uint64_t pin_epoch = 0;
  bool omit_bytes = false;
  absl::string_view request_id;
};

// INVALID_ARGUMENT for what is no GetKernelRequest or holds values that the
// protocol does not have, naming field, found and allowed; UNIMPLEMENTED for a
// later API version. The spec's own bytes are not looked at.
absl::StatusOr<RequestView> ViewRequest(absl::string_view request);

// `request` without its request id, so that callers who number their requests
// still share answers. Copies into `*storage` only when there is an id.
absl::string_view WithoutRequestId(absl::string_view request,
                                   std::string* storage);

// Splits the bytes of a GetKernelsRequest. INVALID_ARGUMENT when malformed.
absl::StatusOr<std::vector<absl::string_view>> ViewBatch(
    absl::string_view request);

}  // namespace ingot::server

#endif  // INGOT_SERVER_REQUEST_VIEW_H_
