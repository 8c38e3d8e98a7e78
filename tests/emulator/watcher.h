// Looks on while workgroups run: the strict checks and profiles are watchers.
#ifndef TESTS_EMULATOR_WATCHER_H_
#define TESTS_EMULATOR_WATCHER_H_

#include "tests/emulator/access.h"

namespace ingot::emulator {

struct Group;
struct Inst;
struct Launch;
struct Wave;

// A bit for a class of instructions, and for those that access memory.
constexpr uint32_t ClassBit(OpClass c) { return 1u << static_cast<int>(c); }
inline constexpr uint32_t kVectorMemoryClasses = ClassBit(OpClass::kLds) |
                                                 ClassBit(OpClass::kLdsDma) |
                                                 ClassBit(OpClass::kVmem);
inline constexpr uint32_t kMemoryClasses =
    kVectorMemoryClasses | ClassBit(OpClass::kSmem);

// One host thread's; its workgroups come one after the other, the waves of a
// group in turn. A watcher may stop a wave with Wave::Raise. With no watcher
// nothing is noted down and nothing is called.
class Watcher {
 public:
  // Before and After are called for instructions of these classes only.
  explicit Watcher(uint32_t before = ~0u, uint32_t after = ~0u)
      : before_(before), after_(after) {}
  virtual ~Watcher();
  uint32_t before() const { return before_; }
  uint32_t after() const { return after_; }
  // Registers hold the launch state; nothing has run.
  virtual void StartGroup(Group&);
  // Before an instruction changes anything; wave.pc is already the next one's.
  virtual void Before(Wave&, const Inst&);
  // After an instruction that did not fault, with its accesses in lane order.
  virtual void After(Wave&, const Inst&, const AccessList&);
  // All waves of the group that still run have arrived at a barrier.
  virtual void Barrier(Group&);
  // All waves have ended. Not called after a fault.
  virtual void EndGroup(Group&);

 private:
  uint32_t before_, after_;
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WATCHER_H_
