// What a stream or a graph's node does.
#ifndef TESTS_EMULATOR_HIP_OPERATION_H_
#define TESTS_EMULATOR_HIP_OPERATION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/emulator/emulator.h"
#include "tests/emulator/hip/abi.h"
#include "tests/emulator/hip/module.h"
#include "tests/emulator/hip/stream.h"

namespace ingot::emulator::hip {

struct Graph;

struct KernelOp {
  FunctionPtr function;
  const void* handle = nullptr;  // as the caller named it
  LaunchConfig config;
  bool cooperative = false;
  // The arguments, as they were at the call.
  std::string kernarg;
};

// One side of a copy: rows and slices of known or of the caller's memory.
struct Region {
  void* base = nullptr;
  size_t pitch = 0, slice = 0;
  bool known = false;  // whether it was HIP's memory when it was submitted
};
struct CopyOp {
  Region to, from;
  size_t width = 0, height = 1, depth = 1;
  int kind = kDefaultKind;
};

struct FillOp {
  Region to;
  unsigned value = 0;
  unsigned element = 1;                     // bytes
  size_t width = 0, height = 1, depth = 1;  // width in elements
};

struct HostOp {
  HostFunction function = nullptr;
  void* data = nullptr;
};

struct CallbackOp {
  StreamCallback function = nullptr;
  void* stream = nullptr;
  void* data = nullptr;
};

struct EmptyOp {};
struct EventRecordOp {
  EventPtr event;
};
struct EventWaitOp {
  EventPtr event;
};

// Memory that a graph's allocation node stands for: one address as long as the
// graph or an instance of it lives.
struct GraphMemory {
  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();
  void* pointer = nullptr;
  size_t bytes = 0;
  int device = 0;
};
struct AllocateOp {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeOp {
  void* pointer = nullptr;
};
struct ChildOp {
  std::shared_ptr<Graph> graph;
};
// A value read or written by the queue itself.
struct ValueOp {
  void* pointer = nullptr;
  uint64_t value = 0, mask = ~uint64_t{0};
  int bytes = 4;
  bool write = true;
  unsigned condition = 0;  // of a wait: >=, ==, &, nor
};

using Operation = std::variant<EmptyOp, KernelOp, CopyOp, FillOp, HostOp,
                               CallbackOp, EventRecordOp, EventWaitOp,
                               AllocateOp, FreeOp, ChildOp, ValueOp>;

// hipGraphNodeType of an operation.
int NodeType(const Operation& operation);

// Does it, in a queue's thread. After a fault of the device only host work is
// still done; faults go to the device.
void Perform(const Operation& operation, int device);

// kSuccess, or why it cannot be submitted to `device` now.
int CheckOperation(const Operation& operation, int device);

}  // namespace ingot::emulator::hip

#endif  // TESTS_EMULATOR_HIP_OPERATION_H_
