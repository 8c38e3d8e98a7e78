#include "client/ctl/interrupt.h"

#include <signal.h>

#include <ctime>

namespace ingot::ctl {
namespace {

volatile sig_atomic_t interrupted = 0;

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool WaitSeconds(double seconds) {
  timespec left;
  left.tv_sec = static_cast<time_t>(seconds);
  left.tv_nsec =
      static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
  while (interrupted == 0 && nanosleep(&left, &left) != 0) {
  }
  return interrupted == 0;
}

}  // namespace ingot::ctl
