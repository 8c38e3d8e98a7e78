// A kernel's code object and where it is loaded. Bytes are checked before they
// are ever given to HIP: a wrong image is a clear error here and a crash or
// wrong numbers there.
#ifndef INGOT_CLIENT_SRC_CODE_OBJECT_H_
#define INGOT_CLIENT_SRC_CODE_OBJECT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "client/src/fork_guard.h"
#include "client/src/hip_api.h"
#include "client/src/status.h"

namespace ingot::client {

// What the daemon says of a kernel; strings of bytes are raw.
struct KernelFacts {
  std::string key;
  std::string digest;
  std::string symbol;
  std::string target;
  uint64_t size = 0;
  uint32_t source = 0;
  uint32_t vgprs = 0;
  uint32_t sgprs = 0;
  uint32_t lds_bytes = 0;
  uint32_t scratch_bytes = 0;
  uint32_t kernarg_bytes = 0;
  uint32_t max_workgroup = 0;  // work-items
};

std::string Sha256(const void* data, size_t size);

// DATA_LOSS when `bytes` do not have the facts' size and digest or are no AMD
// GPU code object.
Status CheckBytes(const KernelFacts& facts, const std::string& bytes);

// Canonical target id that an ELF's e_flags state: "gfx950",
// "gfx950:sramecc+:xnack-". Features compiled as "any" are not named. Empty for
// what is no gfx950 code object.
std::string ElfTarget(const std::string& elf);

// Whether code for `code_target` runs on a device that says it is `device`:
// the same processor, and each feature that the code names as the device has
// it.
bool TargetsAgree(const std::string& code_target, const std::string& device);

// Thread-safe. Loaded at most once per device; unloaded with the object.
class CodeObject : public ForkGuarded {
 public:
  // `bytes` passed CheckBytes. `loads` counts modules loaded.
  CodeObject(std::shared_ptr<HipApi> hip, KernelFacts facts, std::string bytes,
             std::shared_ptr<std::atomic<uint64_t>> loads);
  ~CodeObject() override;

  const KernelFacts& facts() const { return facts_; }
  const std::string& bytes() const { return bytes_; }

  // The function on `device` when it is loaded there, else nullptr. No lock.
  HipFunction Loaded(int device) const {
    return functions_[device].load(std::memory_order_acquire);
  }

  // Loads on `device`, the calling thread's current one, without disturbing a
  // capture in any thread. FAILED_PRECONDITION when the device is another
  // target.
  Status Load(int device, HipFunction* function);

 private:
  Status LoadLocked(int device, HipFunction* function);

  const std::shared_ptr<HipApi> hip_;
  const KernelFacts facts_;
  const std::string bytes_;
  const std::shared_ptr<std::atomic<uint64_t>> loads_;
  std::atomic<HipFunction> functions_[kMaxDevices] = {};
  HipModule modules_[kMaxDevices] = {};  // under mutex()
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CODE_OBJECT_H_
