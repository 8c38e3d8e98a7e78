// Reads AMDGPU code objects (ELF, code object V4 to V6) and loads them into
// host memory that the emulated device executes from.
#ifndef TESTS_EMULATOR_CODE_OBJECT_H_
#define TESTS_EMULATOR_CODE_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ingot::emulator {

// One entry of a kernel's .args metadata.
struct KernelArg {
  std::string kind;  // by_value, global_buffer, hidden_block_count_x, …
  uint32_t offset = 0;
  uint32_t size = 0;
  bool hidden() const { return kind.rfind("hidden_", 0) == 0; }
};

// The kernel descriptor's fields, the metadata beside it, and where it lies.
struct KernelInfo {
  std::string name;
  uint64_t descriptor = 0;  // offsets into the image
  uint64_t entry = 0;
  uint32_t lds_bytes = 0;
  uint32_t scratch_bytes = 0;
  uint32_t kernarg_bytes = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;
  uint16_t preload = 0;
  uint32_t max_threads = 1024;
  uint32_t reqd_size[3] = {0, 0, 0};  // zero: not required
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t vgpr_spills = 0, sgpr_spills = 0;
  bool has_metadata = false;
  std::vector<KernelArg> args;
};

struct Symbol {
  std::string name;
  uint64_t offset = 0;  // into the image
  uint64_t size = 0;
  bool function = false;
};

// Why an object was refused.
enum class LoadError { kNone, kInvalidImage, kWrongTarget };

// A loaded code object. Immutable; the image stays at one address for life.
struct CodeObject {
  CodeObject() = default;
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;
  // Makes the image: `bytes` zeros, which cost the host nothing until written.
  // False when the host has no room. Once only.
  bool Reserve(size_t bytes);

  uint8_t* image = nullptr;  // 4096-byte aligned
  size_t image_size = 0;
  uint64_t text_begin = 0, text_end = 0;  // executable range, image offsets
  std::vector<KernelInfo> kernels;
  std::vector<Symbol> symbols;
  uint32_t e_flags = 0;

  const KernelInfo* FindKernel(const std::string& name) const;
};

// Loads an ELF of `size` bytes; on failure returns null and fills the other
// two. Accepts objects for gfx950 whose sramecc is on or any and whose xnack is
// off or any, and generic gfx9-4 ones. Never reads outside [data, data + size).
std::unique_ptr<CodeObject> LoadCodeObject(const void* data, size_t size,
                                           LoadError* error,
                                           std::string* message);

// The size of the ELF image that starts at `data`, from its section and segment
// tables, for callers who get a bare pointer (hipModuleLoadData); 0 when the
// header is not an ELF header. Never more than the process can read from `data`
// on, whatever the tables say.
size_t ElfSize(const void* data);

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_CODE_OBJECT_H_
