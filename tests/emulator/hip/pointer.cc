// What HIP knows about a pointer.
#include <cstring>

#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/context.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

using Kind = MemoryMap::Kind;

constexpr int kNoDeviceId = -2;

int TypeOf(const Allocation& a) {
  if (a.kind == Kind::kManaged) return kTypeManaged;
  return a.on_host() ? kTypeHost : kTypeDevice;
}

int Attributes(PointerAttributes* out, const void* pointer) {
  if (out == nullptr) return kSuccess;  // as HIP 7 has it
  *out = {};
  out->device = kNoDeviceId;
  const auto known = Runtime::Get().allocations.Find(pointer);
  if (!known.has_value()) return kSuccess;
  out->type = TypeOf(*known);
  out->device = known->device;
  out->device_pointer = const_cast<void*>(pointer);
  if (out->type != kTypeDevice) out->host_pointer = out->device_pointer;
  out->managed = known->kind == Kind::kManaged ? 1 : 0;
  out->flags = known->flags;
  return kSuccess;
}

// hipPointer_attribute.
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kP2pTokens = 5,
  kSyncMemops = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIpcCapable = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kHandleTypes = 14,
  kRdmaCapable = 15,
  kAccessFlags = 16,
  kMempoolHandle = 17,
};

template <class T>
int Give(void* data, T value) {
  std::memcpy(data, &value, sizeof(value));
  return kSuccess;
}

int Attribute(void* data, int attribute, void* pointer) {
  if (data == nullptr) return kInvalidValue;
  const auto known = Runtime::Get().allocations.Find(pointer);
  if (!known.has_value()) {
    if (attribute == kMapped) return Give(data, false);
    if (attribute == kDeviceOrdinal) return Give(data, kNoDeviceId);
    return kInvalidValue;
  }
  const bool device_only = TypeOf(*known) == kTypeDevice;
  switch (attribute) {
    case kContext:
      return Give(data, ContextOf(known->device));
    case kMemoryType:
      return Give(data, TypeOf(*known));
    case kDevicePointer:
      return Give(data, pointer);
    case kHostPointer:
      return device_only ? int{kInvalidValue} : Give(data, pointer);
    case kSyncMemops:
    case kIpcCapable:
    case kRdmaCapable:
      return Give(data, false);
    case kBufferId:
      return Give(data, static_cast<uint32_t>(known->id));
    case kIsManaged:
      return Give(data, known->kind == Kind::kManaged);
    case kDeviceOrdinal:
      return Give(data, known->device);
    case kRangeStart:
      return Give(data, known->begin);
    case kRangeSize:
      return Give(data, known->bytes);
    case kMapped:
      return Give(data, true);
    case kHandleTypes:
      return Give(data, 0);
    case kAccessFlags:
      return Give(data, 3);
    case kMempoolHandle:
      return Give(data, static_cast<void*>(known->pool));
    case kP2pTokens:
      return kNotSupported;
    default:
      return kInvalidValue;
  }
}

}  // namespace

INGOT_HIP_EXPORT int hipPointerGetAttributes(PointerAttributes* attributes,
                                             const void* pointer) {
  return Done(Attributes(attributes, pointer));
}
INGOT_HIP_EXPORT int hipPointerGetAttribute(void* data, int attribute,
                                            void* pointer) {
  return Done(Attribute(data, attribute, pointer));
}
INGOT_HIP_EXPORT int hipDrvPointerGetAttributes(unsigned count, int* attributes,
                                                void** data, void* pointer) {
  if (attributes == nullptr || data == nullptr) return Done(kInvalidValue);
  for (unsigned n = 0; n < count; ++n) {
    // What does not apply is left at zero.
    if (data[n] != nullptr &&
        Attribute(data[n], attributes[n], pointer) != kSuccess) {
      std::memset(data[n], 0, attributes[n] == kMemoryType ? 4 : 1);
    }
  }
  return Done(kSuccess);
}

INGOT_HIP_EXPORT int hipMemGetAddressRange(void** base, size_t* bytes,
                                           void* pointer) {
  const auto known = Runtime::Get().allocations.Find(pointer);
  if (!known.has_value()) return Done(kNotFound);
  if (base != nullptr) *base = reinterpret_cast<void*>(known->begin);
  if (bytes != nullptr) *bytes = known->bytes;
  return Done(kSuccess);
}
INGOT_HIP_EXPORT int hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  if (bytes == nullptr) return Done(kInvalidValue);
  *bytes = 0;
  if (pointer == nullptr) return Done(kSuccess);
  return hipMemGetAddressRange(nullptr, bytes, pointer);
}

}  // namespace ingot::emulator::hip
