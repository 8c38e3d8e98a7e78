// Waiting that Ctrl-C ends, so that a command can still say what it has.
#ifndef INGOT_CLIENT_CTL_INTERRUPT_H_
#define INGOT_CLIENT_CTL_INTERRUPT_H_

namespace ingot::ctl {

// From now on SIGINT and SIGTERM end waits instead of the process.
void CatchInterrupts();

// False when interrupted, before or meanwhile.
bool WaitSeconds(double seconds);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_INTERRUPT_H_
