// Out of line: the builds of the interpreter (interp/level.h) must not make
// copies of their own.
#include "tests/emulator/watcher.h"

namespace ingot::emulator {

Watcher::~Watcher() = default;
void Watcher::StartGroup(Group&) {}
void Watcher::Before(Wave&, const Inst&) {}
void Watcher::After(Wave&, const Inst&, const AccessList&) {}
void Watcher::Barrier(Group&) {}
void Watcher::EndGroup(Group&) {}

}  // namespace ingot::emulator
