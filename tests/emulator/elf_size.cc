// The length of an ELF image whose caller gave only its address.
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/emulator/code_object.h"

namespace ingot::emulator {
namespace {

// The end of the readable memory around `address`, so that a damaged table
// cannot lead outside; no limit where the system does not tell.
uint64_t ReadableEnd(uint64_t address) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return ~uint64_t{0};
  uint64_t end = address;
  char line[512];
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long long from, to;
    char readable;
    if (std::sscanf(line, "%llx-%llx %c", &from, &to, &readable) == 3 &&
        readable == 'r' && from <= end && end < to) {
      end = to;
    }
  }
  std::fclose(maps);
  return end;
}

class Tables {
 public:
  explicit Tables(const void* data)
      : data_(static_cast<const uint8_t*>(data)),
        readable_(ReadableEnd(reinterpret_cast<uint64_t>(data)) -
                  reinterpret_cast<uint64_t>(data)) {}

  size_t Size() {
    Elf64_Ehdr h;
    if (!Read(0, &h) || std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    Include(0, sizeof(h));
    Include(h.e_phoff, uint64_t{h.e_phentsize} * h.e_phnum);
    Include(h.e_shoff, uint64_t{h.e_shentsize} * h.e_shnum);
    Elf64_Phdr p;
    for (uint64_t i = 0; i < h.e_phnum && Read(h.e_phoff + sizeof(p) * i, &p);
         ++i) {
      Include(p.p_offset, p.p_filesz);
    }
    Elf64_Shdr s;
    for (uint64_t i = 0; i < h.e_shnum && Read(h.e_shoff + sizeof(s) * i, &s);
         ++i) {
      if (s.sh_type != SHT_NOBITS) Include(s.sh_offset, s.sh_size);
    }
    return std::min(end_, readable_);
  }

 private:
  template <class T>
  bool Read(uint64_t offset, T* out) const {
    if (offset > readable_ || readable_ - offset < sizeof(T)) return false;
    std::memcpy(out, data_ + offset, sizeof(T));
    return true;
  }

  void Include(uint64_t offset, uint64_t bytes) {
    if (bytes > ~uint64_t{0} - offset) bytes = ~uint64_t{0} - offset;
    end_ = std::max(end_, offset + bytes);
  }

  const uint8_t* data_;
  uint64_t readable_;
  uint64_t end_ = 0;
};

}  // namespace

size_t ElfSize(const void* data) { return Tables(data).Size(); }

}  // namespace ingot::emulator
