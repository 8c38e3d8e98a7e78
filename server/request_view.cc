#include "server/request_view.h"

#include <limits>

#include "server/wire_fields.h"

namespace ingot::server {
namespace {

using Wire = v1::GetKernelRequest;

absl::Status Malformed(absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(message, ": the message is malformed"));
}

absl::Status Refuse(absl::string_view field, uint64_t found,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", found, ", allowed ", allowed));
}

bool IsBytesField(uint32_t field) {
  return field == Wire::kSpecFieldNumber ||
         field == Wire::kHeldDigestsFieldNumber ||
         field == Wire::kRequestIdFieldNumber;
}

// Repeated numbers come packed or one by one.
bool ReadVariants(const WireReader& reader, std::vector<uint32_t>* variants) {
  if (reader.is_varint()) {
    variants->push_back(static_cast<uint32_t>(reader.number()));
    return true;
  }
  if (!reader.is_bytes()) return false;
  absl::string_view packed = reader.bytes();
  while (!packed.empty()) {
    uint64_t value = 0;
    size_t used = 0;
    do {
      if (used == packed.size() || used == 10) return false;
      value |= static_cast<uint64_t>(packed[used] & 0x7f) << (7 * used);
    } while ((packed[used++] & 0x80) != 0);
    packed.remove_prefix(used);
    variants->push_back(static_cast<uint32_t>(value));
  }
  return true;
}

void ReadBytesField(const WireReader& reader, RequestView* view) {
  switch (reader.field()) {
    case Wire::kSpecFieldNumber:
      view->spec = reader.bytes();
      break;
    case Wire::kHeldDigestsFieldNumber:
      view->held_digests.push_back(reader.bytes());
      break;
    default:
      view->request_id = reader.bytes();
  }
}

absl::Status ReadNumberField(const WireReader& reader, RequestView* view) {
  const uint64_t number = reader.number();
  switch (reader.field()) {
    case Wire::kApiVersionFieldNumber:
      view->api_version = static_cast<uint32_t>(number);
      break;
    case Wire::kFetchFieldNumber:
      if (number > v1::Fetch_MAX) return Refuse("fetch", number, "0 to 3");
      view->fetch = static_cast<v1::Fetch>(number);
      break;
    case Wire::kPriorityFieldNumber:
      if (number > v1::Priority_MAX) {
        return Refuse("priority", number, "0 (interactive), 1 (warm-up)");
      }
      view->priority = static_cast<v1::Priority>(number);
      break;
    case Wire::kPinEpochFieldNumber:
      view->pin_epoch = number;
      break;
    case Wire::kOmitBytesFieldNumber:
      view->omit_bytes = number != 0;
      break;
    default:
      break;  // a later client's field
  }
  return absl::OkStatus();
}

absl::Status Check(const RequestView& view) {
  if (view.api_version == 0) {
    return Refuse("api_version", 0, absl::StrCat(kApiVersion));
  }
  if (view.api_version > kApiVersion) {
    return absl::UnimplementedError(
        absl::StrCat("api_version: found ", view.api_version,
                     ", allowed up to ", kApiVersion));
  }
  for (const absl::string_view digest : view.held_digests) {
    if (digest.size() != 32) {
      return Refuse("held_digests", digest.size(), "32 bytes each");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RequestView> ViewRequest(absl::string_view request) {
  RequestView view;
  WireReader reader(request);
  while (reader.Next()) {
    if (reader.field() == Wire::kVariantsFieldNumber) {
      if (!ReadVariants(reader, &view.variants)) {
        return Malformed("GetKernelRequest");
      }
    } else if (IsBytesField(reader.field())) {
      if (!reader.is_bytes()) return Malformed("GetKernelRequest");
      ReadBytesField(reader, &view);
    } else if (reader.is_varint()) {
      INGOT_RETURN_IF_ERROR(ReadNumberField(reader, &view));
    } else if (reader.field() <= Wire::kRequestIdFieldNumber) {
      return Malformed("GetKernelRequest");  // a known number of another type
    }
  }
  if (!reader.ok()) return Malformed("GetKernelRequest");
  INGOT_RETURN_IF_ERROR(Check(view));
  return view;
}

absl::string_view WithoutRequestId(absl::string_view request,
                                   std::string* storage) {
  bool found = false;
  WireReader reader(request);
  while (reader.Next()) {
    found = found || reader.field() == Wire::kRequestIdFieldNumber;
  }
  if (!found || !reader.ok()) return request;
  WireReader again(request);
  while (again.Next()) {
    if (again.field() == Wire::kRequestIdFieldNumber) continue;
    storage->append(again.raw().data(), again.raw().size());
  }
  return *storage;
}

absl::StatusOr<std::vector<absl::string_view>> ViewBatch(
    absl::string_view request) {
  std::vector<absl::string_view> requests;
  WireReader reader(request);
  while (reader.Next()) {
    if (reader.field() != v1::GetKernelsRequest::kRequestsFieldNumber) continue;
    if (!reader.is_bytes()) return Malformed("GetKernelsRequest");
    requests.push_back(reader.bytes());
  }
  if (!reader.ok()) return Malformed("GetKernelsRequest");
  return requests;
}

}  // namespace ingot::server
