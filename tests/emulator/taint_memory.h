// Which bytes of LDS, scratch and global memory are undefined, and where a
// wave's undefined bits came from.
#ifndef TESTS_EMULATOR_TAINT_MEMORY_H_
#define TESTS_EMULATOR_TAINT_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/access.h"
#include "tests/emulator/memory_map.h"
#include "tests/emulator/wave.h"

namespace ingot::emulator::taint {

// A read of undefined bytes, as a place where undefined bits started.
struct Origin {
  Space space = Space::kGlobal;
  uint64_t address = 0;
  uint64_t pc = 0;  // host address of the instruction
};

constexpr uint32_t SpaceBit(Space space) {
  return 1u << static_cast<int>(space);
}

// Of the workgroup that a host thread runs. Undefined bits of LDS and scratch
// are kept bit by bit; bytes of global memory are written or not.
class Memory {
 public:
  void StartGroup(const Group& group);
  // Now and then: finds out whether all of LDS is defined.
  void LookAtLds();

  // Whether any bit of the bytes accessed is undefined.
  bool Undefined(const Wave& wave, const Access& access);
  // The same of all accesses to the spaces whose bits (SpaceBit) are set.
  bool AnyUndefined(const Wave& wave, const AccessList& accesses,
                    uint32_t spaces);
  // All bytes accessed in those spaces are now written with defined values.
  void StoreDefined(const Wave& wave, const AccessList& accesses,
                    uint32_t spaces);
  // A byte of undefined bits for each byte accessed.
  void Load(const Wave& wave, const Access& access, uint8_t* undef);
  // Bytes that are now written, with these undefined bits (null: none). To
  // global memory no undefined bit may go.
  void Store(const Wave& wave, const Access& access, const uint8_t* undef);

  // A number for Registers::set_origin.
  uint32_t AddOrigin(const Origin& origin);
  // Null for registers that were never written.
  const Origin* FindOrigin(uint32_t number) const;

 private:
  // A quick look; false: not known.
  bool PlainlyDefined(const AccessList& accesses, uint32_t spaces) const;
  // Accesses that a switched-off check lets pass go nowhere.
  uint8_t* Place(const Wave& wave, const Access& access);
  // Null when the bytes are written as a whole.
  WrittenBytes* Global(const Wave& wave, const Access& access);

  uint8_t nowhere_[8192] = {};
  std::vector<uint8_t> lds_;
  size_t lds_bytes_ = 0;
  bool lds_defined_ = false;      // all of it
  size_t lds_doubt_ = 0;          // all before is defined
  std::vector<uint8_t> scratch_;  // [wave][lane][byte]
  Interval hit_;                  // the last allocation found
  std::vector<Origin> origins_;
};

}  // namespace ingot::emulator::taint

#endif  // TESTS_EMULATOR_TAINT_MEMORY_H_
