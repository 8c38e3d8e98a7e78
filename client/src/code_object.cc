#include "client/src/code_object.h"

#include <elf.h>
#include <openssl/evp.h>

#include <cstring>

namespace ingot::client {
namespace {

// LLVM AMDGPUUsage, "ELF header e_flags" of code object V4 and later.
constexpr uint32_t kMachMask = 0x0ff;
constexpr uint32_t kMachGfx950 = 0x04f;
constexpr uint32_t kXnackMask = 0x300;
constexpr uint32_t kXnackOff = 0x200;
constexpr uint32_t kXnackOn = 0x300;
constexpr uint32_t kSrameccMask = 0xc00;
constexpr uint32_t kSrameccOff = 0x800;
constexpr uint32_t kSrameccOn = 0xc00;
constexpr uint16_t kMachineAmdGpu = 224;

// A relaxed capture mode for the calling thread: loading a module allocates,
// which in the default mode would invalidate a capture that some thread has
// begun.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const HipFunctions& hip) : hip_(hip) {
    if (hip_.thread_exchange_capture_mode == nullptr) return;
    exchanged_ = hip_.thread_exchange_capture_mode(&mode_) == kHipSuccess;
  }
  ~RelaxedCapture() {
    if (exchanged_) hip_.thread_exchange_capture_mode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const HipFunctions& hip_;
  int mode_ = kHipCaptureModeRelaxed;
  bool exchanged_ = false;
};

}  // namespace

std::string Sha256(const void* data, size_t size) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(data, size, digest, &length, EVP_sha256(), nullptr) != 1) {
    return "";
  }
  return std::string(reinterpret_cast<char*>(digest), length);
}

std::string ElfTarget(const std::string& elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) return "";
  memcpy(&header, elf.data(), sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine != kMachineAmdGpu ||
      (header.e_flags & kMachMask) != kMachGfx950) {
    return "";
  }
  std::string target = "gfx950";
  const uint32_t sramecc = header.e_flags & kSrameccMask;
  const uint32_t xnack = header.e_flags & kXnackMask;
  if (sramecc == kSrameccOn) target += ":sramecc+";
  if (sramecc == kSrameccOff) target += ":sramecc-";
  if (xnack == kXnackOn) target += ":xnack+";
  if (xnack == kXnackOff) target += ":xnack-";
  return target;
}

bool TargetsAgree(const std::string& code_target, const std::string& device) {
  const std::string all = device + ":";
  size_t begin = 0;
  bool first = true;
  while (begin <= code_target.size()) {
    size_t end = code_target.find(':', begin);
    if (end == std::string::npos) end = code_target.size();
    const std::string part = code_target.substr(begin, end - begin) + ":";
    // The processor stands first, features in any place after it.
    const bool found = first ? all.compare(0, part.size(), part) == 0
                             : all.find(":" + part) != std::string::npos;
    if (!found) return false;
    first = false;
    begin = end + 1;
  }
  return true;
}

Status CheckBytes(const KernelFacts& facts, const std::string& bytes) {
  if (bytes.size() != facts.size) {
    return Error(INGOT_DATA_LOSS,
                 "kernel %s: found %zu bytes, its record says %llu",
                 facts.symbol.c_str(), bytes.size(),
                 static_cast<unsigned long long>(facts.size));
  }
  const std::string digest = Sha256(bytes.data(), bytes.size());
  if (digest != facts.digest) {
    return Error(INGOT_DATA_LOSS, "kernel %s: found digest %s, expected %s",
                 facts.symbol.c_str(), Hex(digest).c_str(),
                 Hex(facts.digest).c_str());
  }
  const std::string target = ElfTarget(bytes);
  if (target.empty()) {
    return Error(INGOT_DATA_LOSS,
                 "kernel %s: the bytes are no gfx950 code object",
                 facts.symbol.c_str());
  }
  if (target != facts.target) {
    return Error(INGOT_DATA_LOSS,
                 "kernel %s: the code object is for %s, its record says %s",
                 facts.symbol.c_str(), target.c_str(), facts.target.c_str());
  }
  return Status();
}

CodeObject::CodeObject(std::shared_ptr<HipApi> hip, KernelFacts facts,
                       std::string bytes,
                       std::shared_ptr<std::atomic<uint64_t>> loads)
    : hip_(std::move(hip)),
      facts_(std::move(facts)),
      bytes_(std::move(bytes)),
      loads_(std::move(loads)) {}

CodeObject::~CodeObject() {
  // In a fork of the process that loaded them the handles mean nothing.
  if (!hip_->Ready()) return;
  for (const HipModule module : modules_) {
    if (module == nullptr) continue;
    const RelaxedCapture relaxed(hip_->functions());
    hip_->functions().module_unload(module);
  }
}

Status CodeObject::LoadLocked(int device, HipFunction* function) {
  const HipFunctions& hip = hip_->functions();
  const RelaxedCapture relaxed(hip);
  HipModule module = nullptr;
  HipError error = hip.module_load_data(&module, bytes_.data());
  if (error != kHipSuccess) return hip_->Failed("hipModuleLoadData", error);
  error = hip.module_get_function(function, module, facts_.symbol.c_str());
  if (error != kHipSuccess) {
    hip.module_unload(module);
    return hip_->Failed("hipModuleGetFunction", error);
  }
  modules_[device] = module;
  loads_->fetch_add(1, std::memory_order_relaxed);
  return Status();
}

Status CodeObject::Load(int device, HipFunction* function) {
  *function = Loaded(device);
  if (*function != nullptr) return Status();
  const HipDevice* facts = nullptr;
  INGOT_CLIENT_RETURN_IF_ERROR(hip_->Device(device, &facts));
  if (!TargetsAgree(facts_.target, facts->target)) {
    return Error(INGOT_FAILED_PRECONDITION,
                 "kernel %s is for %s and device %d is %s",
                 facts_.symbol.c_str(), facts_.target.c_str(), device,
                 facts->target.c_str());
  }
  const std::lock_guard<std::mutex> lock(mutex());
  *function = Loaded(device);
  if (*function != nullptr) return Status();
  INGOT_CLIENT_RETURN_IF_ERROR(LoadLocked(device, function));
  functions_[device].store(*function, std::memory_order_release);
  return Status();
}

}  // namespace ingot::client
