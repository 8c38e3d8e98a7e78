// What an emulated device may access: intervals of host memory.
//
// Device memory is plain host memory. Every access of a kernel is checked
// against the intervals known when it was launched.
#ifndef TESTS_EMULATOR_MEMORY_MAP_H_
#define TESTS_EMULATOR_MEMORY_MAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/emulator/written_bytes.h"

namespace ingot::emulator {

struct Interval {
  uint64_t begin = 0, end = 0;
  // Null where everything counts as written: memory that hosts share.
  std::shared_ptr<WrittenBytes> written = nullptr;
};

// An immutable, sorted set of disjoint intervals.
class MemoryView {
 public:
  explicit MemoryView(std::vector<Interval> intervals);
  // The interval that holds all of [address, address + bytes), or null.
  const Interval* Find(uint64_t address, uint64_t bytes) const;
  // The nearest interval below or around, for messages; null when none.
  const Interval* Nearest(uint64_t address) const;

 private:
  std::vector<Interval> intervals_;
};

// Thread-safe. Owns what Allocate returns; registered ranges belong to others.
class MemoryMap {
 public:
  enum class Kind { kDevice, kHost, kRegistered, kManaged };

  ~MemoryMap();
  // Fresh memory, 256-byte aligned, filled with 0xa5 and fenced by unmapped
  // gaps; null when the host has none.
  void* Allocate(size_t bytes, Kind kind);
  // False when `pointer` is not the start of a live allocation.
  bool Free(void* pointer);
  bool Register(void* pointer, size_t bytes);
  bool Unregister(void* pointer);
  uint64_t bytes_in_use() const;

  // What the host writes by the runtime's calls. Plain stores by host code are
  // found by FindHostWrites, but for those that repeat the fill.
  void MarkWritten(const void* to, size_t bytes);
  // As MarkWritten, when the bytes come from `from`: unwritten bytes of device
  // memory stay unwritten where they go.
  void CopyWritten(const void* to, const void* from, size_t bytes);
  // The allocation that starts at `pointer` holds the fill again.
  void ForgetWritten(const void* pointer);
  // Before a launch that checks for undefined values.
  void FindHostWrites() const;

  // Makes the other map's memory part of every later View, as the memory of a
  // peer or of the host is; not what `other` includes in its turn. `other` must
  // live until Exclude or this map's end.
  void Include(const MemoryMap* other);
  void Exclude(const MemoryMap* other);

  // All intervals, those of the included maps, and the given extra ones.
  std::shared_ptr<const MemoryView> View(
      const std::vector<Interval>& extra) const;

 private:
  struct Block {
    size_t bytes = 0;
    Kind kind = Kind::kDevice;
    void* mapping = nullptr;  // null: registered
    size_t mapping_bytes = 0;
    std::shared_ptr<WrittenBytes> written;  // of kDevice
  };
  using Blocks = std::map<uint64_t, Block>;
  // The block that holds [at, at + bytes), or end; needs mutex_.
  Blocks::const_iterator Around(uint64_t at, size_t bytes) const;

  void AddTo(std::vector<Interval>* intervals) const;
  void FindHostWritesHere() const;

  mutable std::mutex mutex_;
  Blocks blocks_;
  std::vector<const MemoryMap*> included_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_MEMORY_MAP_H_
