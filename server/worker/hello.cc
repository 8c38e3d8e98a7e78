#include "server/worker/hello.h"

#include <string>
#include <utility>

#include "compiler/fingerprint.h"
#include "compiler/ops/op.h"

namespace ingot::server {

worker::Hello OwnHello() {
  worker::Hello hello;
  hello.set_protocol(kWorkerProtocol);
  const absl::string_view compiler = CompilerVersion();
  hello.set_compiler(compiler.data(), compiler.size());
  for (const OpDef* op : AllOps()) {
    absl::StatusOr<std::string> fingerprint = OpFingerprint(op->name);
    if (!fingerprint.ok()) continue;
    worker::OpFingerprint* entry = hello.add_ops();
    entry->set_op(op->name);
    entry->set_fingerprint(*std::move(fingerprint));
  }
  return hello;
}

}  // namespace ingot::server
