#include "client/src/wire_scan.h"

namespace ingot::client {
namespace {

// Field numbers of kernels.proto.
constexpr uint32_t kResponsePlan = 1;
constexpr uint32_t kResponseKernels = 2;
constexpr uint32_t kKernelRecord = 1;
constexpr uint32_t kResultsResults = 1;
constexpr uint32_t kResultResponse = 4;

Status Damaged(const char* what) {
  return Error(INGOT_INTERNAL,
               "the daemon's %s is damaged, or its parts stand "
               "twice",
               what);
}

// The bytes of `field`, which may stand once; empty when it does not.
bool TakeOne(std::string_view message, uint32_t field,
             std::string_view* bytes) {
  bool seen = false;
  *bytes = {};
  WireScan scan(message);
  while (scan.Next()) {
    if (scan.field() != field) continue;
    if (seen || !scan.is_bytes()) return false;
    seen = true;
    *bytes = scan.bytes();
  }
  return scan.ok();
}

}  // namespace

bool WireScan::Varint(uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(rest_[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireScan::Skip(uint64_t size, std::string_view* skipped) {
  if (size > rest_.size()) return false;
  *skipped = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireScan::Next() {
  if (!ok_ || rest_.empty()) return false;
  const std::string_view from = rest_;
  uint64_t tag = 0;
  uint64_t size = 0;
  std::string_view fixed;
  ok_ = Varint(&tag) && tag >> 3 != 0 && tag >> 32 == 0;
  if (!ok_) return false;
  field_ = static_cast<uint32_t>(tag >> 3);
  is_number_ = (tag & 7) == 0;
  is_bytes_ = (tag & 7) == 2;
  switch (tag & 7) {
    case 0:
      ok_ = Varint(&number_);
      break;
    case 1:
      ok_ = Skip(8, &fixed);
      break;
    case 2:
      ok_ = Varint(&size) && Skip(size, &bytes_);
      break;
    case 5:
      ok_ = Skip(4, &fixed);
      break;
    default:  // groups: no message of ours has them
      ok_ = false;
  }
  raw_ = from.substr(0, from.size() - rest_.size());
  return ok_;
}

Status SplitResponse(std::string_view response, RawResponse* raw) {
  *raw = RawResponse();
  if (!TakeOne(response, kResponsePlan, &raw->plan)) return Damaged("answer");
  WireScan scan(response);
  while (scan.Next()) {
    if (scan.field() != kResponseKernels) continue;
    std::string_view record;
    if (!scan.is_bytes() || !TakeOne(scan.bytes(), kKernelRecord, &record)) {
      return Damaged("kernel");
    }
    raw->records.push_back(record);
  }
  return Status();
}

Status SplitResults(std::string_view message,
                    std::vector<std::string_view>* responses) {
  responses->clear();
  WireScan scan(message);
  while (scan.Next()) {
    if (scan.field() != kResultsResults) continue;
    std::string_view response;
    if (!scan.is_bytes() ||
        !TakeOne(scan.bytes(), kResultResponse, &response)) {
      return Damaged("result");
    }
    responses->push_back(response);
  }
  return scan.ok() ? Status() : Damaged("answer");
}

}  // namespace ingot::client
