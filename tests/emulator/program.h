// A loaded code object together with its decoded instructions.
#ifndef TESTS_EMULATOR_PROGRAM_H_
#define TESTS_EMULATOR_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "tests/emulator/code_object.h"
#include "tests/emulator/decode.h"

namespace ingot::emulator {

// Thread-safe: instructions are decoded when first reached, once per address.
class Program {
 public:
  Program(std::unique_ptr<CodeObject> object, const Decoder* decoder);

  const CodeObject& object() const { return *object_; }
  uint64_t base() const { return base_; }  // host address of the image

  // The instruction at host address `pc`, or null when there is none.
  [[gnu::always_inline]] const Inst* At(uint64_t pc) {
    const uint64_t slot = (pc - text_) >> 2;
    if (slot >= slots_count_ || (pc & 3) != 0) return nullptr;
    const Inst* inst = slots_[slot].load(std::memory_order_acquire);
    return inst != nullptr ? inst : DecodeAt(slot);
  }
  // The encoding word at `pc` for reports; 0 outside the code.
  uint32_t WordAt(uint64_t pc) const;
  // The name of the symbol that holds `pc`, or empty.
  std::string SymbolAt(uint64_t pc) const;

 private:
  const Inst* DecodeAt(uint64_t slot);

  std::unique_ptr<CodeObject> object_;
  const Decoder* decoder_;
  uint64_t base_;
  uint64_t text_;
  uint64_t slots_count_;
  std::unique_ptr<std::atomic<const Inst*>[]> slots_;
  std::mutex mutex_;
  std::deque<Inst> decoded_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_PROGRAM_H_
