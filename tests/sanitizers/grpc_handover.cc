// Tells the thread sanitizer about gRPC's tags. The distribution's gRPC is not
// instrumented, and an operation goes through it from one thread to another
// past locks and atomics that the sanitizer does not see. Like the mutexes in
// absl_mutex.cc, these definitions stand before the library's: what happened
// before an operation was started under a tag happened before the tag came out
// of a completion queue. Neither does it see how the library counts down what a
// call waits for: whoever takes the last step comes after all others.
#include <grpc/grpc.h>
#include <grpcpp/support/server_callback.h>
#include <sanitizer/tsan_interface.h>

#include "tests/sanitizers/next_definition.h"

namespace {

// Stands for all that was started: a call of the library's own handlers is
// counted down where nothing is instrumented, so its end comes after that.
char started;

grpc_event Arrived(grpc_event event) {
  if (event.type == GRPC_OP_COMPLETE) __tsan_acquire(event.tag);
  return event;
}

}  // namespace

extern "C" {

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops,
                                      size_t nops, void* tag, void* reserved) {
  static const auto next =
      ingot::NextDefinition<decltype(&grpc_call_start_batch)>(
          "grpc_call_start_batch");
  __tsan_release(tag);
  __tsan_release(&started);
  return next(call, ops, nops, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue,
                                      gpr_timespec deadline, void* reserved) {
  static const auto next =
      ingot::NextDefinition<decltype(&grpc_completion_queue_next)>(
          "grpc_completion_queue_next");
  return Arrived(next(queue, deadline, reserved));
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag,
                                       gpr_timespec deadline, void* reserved) {
  static const auto next =
      ingot::NextDefinition<decltype(&grpc_completion_queue_pluck)>(
          "grpc_completion_queue_pluck");
  return Arrived(next(queue, tag, deadline, reserved));
}
}

namespace grpc::internal {

void ServerCallbackCall::ScheduleOnDone(bool inline_ondone) {
  static const auto next =
      ingot::NextDefinition<void (*)(ServerCallbackCall*, bool)>(
          "_ZN4grpc8internal18ServerCallbackCall14ScheduleOnDoneEb");
  __tsan_acquire(&callbacks_outstanding_);
  __tsan_acquire(&started);
  next(this, inline_ondone);
}

void ServerCallbackCall::CallOnCancel(ServerReactor* reactor) {
  static const auto next =
      ingot::NextDefinition<void (*)(ServerCallbackCall*, ServerReactor*)>(
          "_ZN4grpc8internal18ServerCallbackCall12CallOnCancelEPNS0_"
          "13ServerReactorE");
  __tsan_acquire(&on_cancel_conditions_remaining_);
  next(this, reactor);
}

}  // namespace grpc::internal
