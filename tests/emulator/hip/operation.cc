#include "tests/emulator/hip/operation.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/emulator/hip/graph.h"
#include "tests/emulator/hip/launch.h"
#include "tests/emulator/hip/pool.h"
#include "tests/emulator/hip/runtime.h"

namespace ingot::emulator::hip {
namespace {

// From the first byte of a region to its last.
size_t Span(const Region& r, size_t width, size_t height, size_t depth) {
  return (depth - 1) * r.slice + (height - 1) * r.pitch + width;
}

int CheckRegion(const Region& r, size_t width, size_t height, size_t depth) {
  constexpr size_t kMost = size_t{1} << 44;
  if (r.base == nullptr) return kInvalidValue;
  if (width > kMost || r.pitch > kMost || r.slice > kMost || height > kMost ||
      depth > kMost) {
    return kInvalidValue;
  }
  if (height > 1 && r.pitch < width) return kInvalidPitchValue;
  if (depth > 1 && r.slice / height < r.pitch) return kInvalidValue;
  const __uint128_t end = static_cast<__uint128_t>(depth - 1) * r.slice +
                          static_cast<__uint128_t>(height - 1) * r.pitch;
  if (end > kMost) return kInvalidValue;
  return R().allocations.Fits(r.base, Span(r, width, height, depth))
             ? kSuccess
             : kInvalidValue;
}

// Known memory may have been freed since the work was submitted, or captured.
bool StillThere(const Region& r, size_t width, size_t height, size_t depth,
                int device) {
  if (!r.known) return true;
  const auto found = R().allocations.Find(r.base);
  if (found.has_value() && found->end() - reinterpret_cast<uint64_t>(r.base) >=
                               Span(r, width, height, depth)) {
    return true;
  }
  R().Fault(device, kIllegalAddress,
            "a copy or fill touches memory that was freed");
  return false;
}

char* Row(const Region& r, size_t y, size_t z) {
  return static_cast<char*>(r.base) + z * r.slice + y * r.pitch;
}

struct Checker {
  int device;
  int operator()(const EmptyOp&) const { return kSuccess; }
  int operator()(const KernelOp& k) const { return CheckLaunch(k, device); }
  int operator()(const CopyOp& c) const {
    if ((c.kind < 0 || c.kind > kDefaultKind) &&
        c.kind != kDeviceToDeviceNoCu) {
      return kInvalidMemcpyDirection;
    }
    if (!c.to.known && !c.from.known && c.kind != kDefaultKind &&
        c.kind != kHostToHost) {
      return kInvalidValue;  // neither side is the device's
    }
    const int error = CheckRegion(c.to, c.width, c.height, c.depth);
    return error != kSuccess ? error
                             : CheckRegion(c.from, c.width, c.height, c.depth);
  }
  int operator()(const FillOp& f) const {
    if (f.element != 1 && f.element != 2 && f.element != 4)
      return kInvalidValue;
    if (!f.to.known || f.width > (size_t{1} << 44)) return kInvalidValue;
    return CheckRegion(f.to, f.width * f.element, f.height, f.depth);
  }
  int operator()(const HostOp& h) const {
    return h.function != nullptr ? kSuccess : kInvalidValue;
  }
  int operator()(const CallbackOp& c) const {
    return c.function != nullptr ? kSuccess : kInvalidValue;
  }
  int operator()(const EventRecordOp&) const { return kSuccess; }
  int operator()(const EventWaitOp&) const { return kSuccess; }
  int operator()(const AllocateOp&) const { return kSuccess; }
  int operator()(const FreeOp&) const { return kSuccess; }
  int operator()(const ChildOp& c) const {
    for (const auto& node : c.graph->nodes) {
      if (const int error = CheckOperation(node->operation, device);
          error != kSuccess) {
        return error;
      }
    }
    return kSuccess;
  }
  int operator()(const ValueOp& v) const {
    const bool there =
        R().allocations.Find(v.pointer).has_value() &&
        R().allocations.Fits(v.pointer, static_cast<size_t>(v.bytes));
    return there && v.condition <= 3 ? kSuccess : kInvalidValue;
  }
};

bool Holds(const ValueOp& v) {
  uint64_t now = 0;
  if (v.bytes == 4) {
    now = __atomic_load_n(static_cast<uint32_t*>(v.pointer), __ATOMIC_ACQUIRE);
  } else {
    now = __atomic_load_n(static_cast<uint64_t*>(v.pointer), __ATOMIC_ACQUIRE);
  }
  now &= v.mask;
  switch (v.condition) {
    case 0:
      return now >= v.value;
    case 1:
      return now == v.value;
    case 2:
      return (now & v.value) != 0;
    default:
      return ~(now | v.value) != 0;
  }
}

MemoryMap* DeviceMemoryAt(const void* pointer) {
  const auto found = R().allocations.Find(pointer);
  return found.has_value() && found->kind == MemoryMap::Kind::kDevice
             ? &R().device(found->device).emulated.memory()
             : nullptr;
}
// For the check for undefined values; null `from`: the values are known.
void NoteWrite(const void* to, const void* from, size_t bytes) {
  if (MemoryMap* memory = DeviceMemoryAt(to); memory != nullptr)
    memory->CopyWritten(to, from, bytes);
}

struct Performer {
  int device;
  bool faulted() const { return R().sticky(device) != kSuccess; }

  void operator()(const EmptyOp&) const {}
  void operator()(const KernelOp& k) const { RunKernel(k); }
  void operator()(const CopyOp& c) const {
    if (faulted() || !StillThere(c.to, c.width, c.height, c.depth, device) ||
        !StillThere(c.from, c.width, c.height, c.depth, device)) {
      return;
    }
    for (size_t z = 0; z < c.depth; ++z) {
      for (size_t y = 0; y < c.height; ++y) {
        std::memmove(Row(c.to, y, z), Row(c.from, y, z), c.width);
        NoteWrite(Row(c.to, y, z), Row(c.from, y, z), c.width);
      }
    }
  }
  void operator()(const FillOp& f) const {
    if (faulted() ||
        !StillThere(f.to, f.width * f.element, f.height, f.depth, device)) {
      return;
    }
    for (size_t z = 0; z < f.depth; ++z) {
      for (size_t y = 0; y < f.height; ++y) {
        FillRow(f, Row(f.to, y, z));
        NoteWrite(Row(f.to, y, z), nullptr, f.width * f.element);
      }
    }
  }
  static void FillRow(const FillOp& f, char* row) {
    if (f.element == 1) {
      std::memset(row, static_cast<int>(f.value & 0xff), f.width);
      return;
    }
    for (size_t x = 0; x < f.width; ++x)
      std::memcpy(row + x * f.element, &f.value, f.element);
  }
  void operator()(const HostOp& h) const {
    if (!faulted()) h.function(h.data);
  }
  void operator()(const CallbackOp& c) const {
    c.function(c.stream, R().sticky(device), c.data);
  }
  // Events are handled where the work is submitted.
  void operator()(const EventRecordOp&) const {}
  void operator()(const EventWaitOp&) const {}
  // Each launch finds the memory as if it were fresh.
  void operator()(const AllocateOp& a) const {
    if (faulted()) return;
    std::memset(a.memory->pointer, kFreshByte, a.memory->bytes);
    if (MemoryMap* memory = DeviceMemoryAt(a.memory->pointer);
        memory != nullptr) {
      memory->ForgetWritten(a.memory->pointer);
    }
  }
  void operator()(const FreeOp& f) const {
    const auto found = R().allocations.Find(f.pointer);
    if (found.has_value() && !found->in_graph) ReleaseToPool(f.pointer);
  }
  void operator()(const ChildOp& c) const {
    std::vector<Node*> order;
    c.graph->Order(&order);
    for (const Node* node : order) Perform(node->operation, device);
  }
  void operator()(const ValueOp& v) const {
    if (faulted()) return;
    if (!v.write) {
      while (!Holds(v) && !faulted())
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else if (v.bytes == 4) {
      __atomic_store_n(static_cast<uint32_t*>(v.pointer),
                       static_cast<uint32_t>(v.value), __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(static_cast<uint64_t*>(v.pointer), v.value,
                       __ATOMIC_RELEASE);
    }
  }
};

}  // namespace

GraphMemory::~GraphMemory() { Runtime::Get().allocations.Release(pointer); }

int NodeType(const Operation& operation) {
  // In the order of Operation's alternatives; -1: never a node.
  static constexpr int kTypes[] = {5, 0, 1, 2, 3, -1, 7, 6, 10, 11, 4, -1};
  static_assert(std::size(kTypes) == std::variant_size_v<Operation>);
  return kTypes[operation.index()];
}

void Perform(const Operation& operation, int device) {
  std::visit(Performer{device}, operation);
}

int CheckOperation(const Operation& operation, int device) {
  return std::visit(Checker{device}, operation);
}

}  // namespace ingot::emulator::hip
