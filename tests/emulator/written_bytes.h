// Which bytes of one allocation hold values that somebody has written.
//
// Kernels' stores and the runtime's copies are marked exactly. Host code also
// writes through plain pointers, which nobody sees: FindHostWrites looks for
// that, a line at a time, by the fill that fresh memory has.
#ifndef TESTS_EMULATOR_WRITTEN_BYTES_H_
#define TESTS_EMULATOR_WRITTEN_BYTES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ingot::emulator {

// What fresh device memory is filled with.
inline constexpr uint8_t kFreshByte = 0xa5;

// Several threads may mark and ask at once; an answer about bytes that another
// thread is marking may be the old one. FindHostWrites needs the object alone.
class WrittenBytes {
 public:
  // For [begin, begin + bytes) of host memory, of which nothing is written yet.
  WrittenBytes(uint64_t begin, size_t bytes);
  ~WrittenBytes();
  WrittenBytes(const WrittenBytes&) = delete;
  WrittenBytes& operator=(const WrittenBytes&) = delete;

  // True when every byte is known to be written.
  bool whole() const { return whole_.load(std::memory_order_relaxed); }
  // The range must lie inside the allocation.
  void Mark(uint64_t address, size_t bytes);
  // Takes over what `from` knows of as many bytes at `source`.
  void Copy(uint64_t address, size_t bytes, const WrittenBytes& from,
            uint64_t source);
  // Nothing is written any more.
  void Forget();
  // A byte each: 0xff written, 0 not. Null when whole.
  const uint8_t* At(uint64_t address) const {
    return whole() ? nullptr : map_ + (address - begin_);
  }

  // Counts lines of 64 bytes that no longer hold the fill as written, and finds
  // out whether that makes the allocation whole.
  void FindHostWrites();

 private:
  bool LineWritten(uint64_t line) const;

  uint64_t begin_;
  size_t bytes_;
  uint8_t* map_;  // untouched pages cost nothing
  std::atomic<bool> whole_{false};
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WRITTEN_BYTES_H_
