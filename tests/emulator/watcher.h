// Looks on while workgroups run: the strict checks and profiles are watchers.
#ifndef TESTS_EMULATOR_WATCHER_H_
#define TESTS_EMULATOR_WATCHER_H_

#include "tests/emulator/access.h"

namespace ingot::emulator {

struct Group;
struct Inst;
struct Launch;
struct Wave;

// One host thread's; its workgroups come one after the other, the waves of a
// group in turn. A watcher may stop the wave with Wave::Raise. With no watcher
// nothing is noted down and nothing is called.
class Watcher {
 public:
  virtual ~Watcher();
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
};

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_WATCHER_H_
