#include "tests/emulator/code_object.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "tests/emulator/msgpack.h"

namespace ingot::emulator {
namespace {

// Of the kernel descriptor: the compiler could not add up what the calls need,
// so the runtime gives the stack that hipLimitStackSize names.
constexpr uint16_t kUsesDynamicStack = 1u << 11;
constexpr uint32_t kStackLimit = 1024;

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint8_t kOsAbiHsa = 64;
constexpr uint32_t kMachGfx950 = 0x4f;
constexpr uint32_t kMachGfx94Generic = 0x5f;
constexpr uint32_t kNoteMetadata = 32;
// Far above what any compiler makes, and small enough that a damaged table
// costs neither time nor memory.
constexpr size_t kMaxImage = size_t{1} << 30;
constexpr int kMaxSegments = 64;
constexpr uint32_t kMaxSymbols = 1u << 20;
constexpr uint32_t kMaxName = 4096;
constexpr uint32_t kMaxKernarg = 1u << 16;
constexpr uint32_t kRelocAbs32Lo = 1, kRelocAbs32Hi = 2, kRelocAbs64 = 3,
                   kRelocAbs32 = 6, kRelocRelative64 = 13;

class Loader {
 public:
  Loader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  std::unique_ptr<CodeObject> Load(LoadError* error, std::string* message) {
    auto object = std::make_unique<CodeObject>();
    object_ = object.get();
    if (!Header() || !Segments() || !Symbols() || !Relocations() || !Notes() ||
        !Descriptors()) {
      *error = error_;
      *message = message_;
      return nullptr;
    }
    *error = LoadError::kNone;
    return object;
  }

 private:
  bool Fail(LoadError error, std::string message) {
    error_ = error;
    message_ = std::move(message);
    return false;
  }
  bool Bad(const char* what) { return Fail(LoadError::kInvalidImage, what); }

  template <class T>
  bool Read(uint64_t offset, T* out) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return false;
    std::memcpy(out, data_ + offset, sizeof(T));
    return true;
  }

  bool Header() {
    if (!Read(0, &header_) ||
        std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      return Bad("not a little-endian 64-bit ELF image");
    }
    if (header_.e_machine != kMachineAmdgpu ||
        header_.e_ident[EI_OSABI] != kOsAbiHsa) {
      return Fail(LoadError::kWrongTarget, "not an AMDGPU HSA code object");
    }
    object_->e_flags = header_.e_flags;
    const uint8_t abi = header_.e_ident[EI_ABIVERSION];
    if (abi < 2 || abi > 4) return Bad("code object version is not 4, 5 or 6");
    if (header_.e_type != ET_DYN)
      return Bad("not a linked (shared) code object");
    return Target(abi);
  }

  bool Target(uint8_t abi) {
    const uint32_t mach = header_.e_flags & 0xff;
    if (mach != kMachGfx950 && !(mach == kMachGfx94Generic && abi == 4)) {
      return Fail(LoadError::kWrongTarget, "the code object is not for gfx950");
    }
    // 0 unsupported, 1 any, 2 off, 3 on
    const uint32_t xnack = header_.e_flags >> 8 & 3,
                   sramecc = header_.e_flags >> 10 & 3;
    if (xnack == 3)
      return Fail(LoadError::kWrongTarget, "the code object needs xnack+");
    if (sramecc == 2)
      return Fail(LoadError::kWrongTarget, "the code object needs sramecc-");
    return true;
  }

  bool Segments() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr) ||
        header_.e_phnum > kMaxSegments) {
      return Bad("the program header table has an unknown form");
    }
    uint64_t end = 0;
    for (uint64_t i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr p;
      if (!Read(header_.e_phoff + sizeof(p) * i, &p))
        return Bad("program header table is truncated");
      segments_.push_back(p);
      if (p.p_type == PT_LOAD && !Segment(p, &end)) return false;
    }
    if (object_->text_end == 0) return Bad("no executable segment");
    if (!object_->Reserve(end)) return Bad("the host has no memory for it");
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type == PT_LOAD) {
        std::memcpy(object_->image + p.p_vaddr, data_ + p.p_offset, p.p_filesz);
      }
    }
    return true;
  }

  // Segments come in ascending order; `end` is that of those before.
  bool Segment(const Elf64_Phdr& p, uint64_t* end) {
    if (p.p_offset > size_ || size_ - p.p_offset < p.p_filesz ||
        p.p_filesz > p.p_memsz || p.p_memsz > kMaxImage ||
        p.p_vaddr > kMaxImage) {
      return Bad("a segment lies outside the file");
    }
    if (p.p_vaddr < *end) return Bad("segments overlap");
    *end = p.p_vaddr + p.p_memsz;
    if ((p.p_flags & PF_X) == 0) return true;
    if (object_->text_end != 0) return Bad("more than one executable segment");
    object_->text_begin = p.p_vaddr;
    object_->text_end = p.p_vaddr + p.p_filesz;
    if (p.p_vaddr % 4 != 0) return Bad("the code is not aligned");
    return true;
  }

  // The image's dynamic table gives symbols and relocations without sections.
  bool Dynamic() {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_DYNAMIC) continue;
      for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= p.p_filesz;
           at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        if (!Image(p.p_vaddr + at, &d))
          return Bad("the dynamic table is outside the image");
        if (d.d_tag == DT_NULL) break;
        if (d.d_tag == DT_SYMTAB) symtab_ = d.d_un.d_ptr;
        if (d.d_tag == DT_STRTAB) strtab_ = d.d_un.d_ptr;
        if (d.d_tag == DT_STRSZ) strsize_ = d.d_un.d_val;
        if (d.d_tag == DT_RELA) rela_ = d.d_un.d_ptr;
        if (d.d_tag == DT_RELASZ) relasize_ = d.d_un.d_val;
        if (d.d_tag == DT_HASH) hash_ = d.d_un.d_ptr;
      }
    }
    if (strtab_ > object_->image_size ||
        strsize_ > object_->image_size - strtab_) {
      return Bad("the string table is outside the image");
    }
    return true;
  }

  template <class T>
  bool Image(uint64_t offset, T* out) const {
    if (offset > object_->image_size ||
        object_->image_size - offset < sizeof(T))
      return false;
    std::memcpy(out, object_->image + offset, sizeof(T));
    return true;
  }

  bool Symbols() {
    if (!Dynamic()) return false;
    uint32_t count = 0;
    if (symtab_ == 0) return Bad("no dynamic symbol table");
    if (hash_ != 0) {
      if (!Image(hash_ + 4, &count))
        return Bad("the hash table is outside the image");
    } else if (strtab_ > symtab_) {
      // The linker places the strings after the symbols and its hash tables.
      count = static_cast<uint32_t>((strtab_ - symtab_) / sizeof(Elf64_Sym));
    }
    if (count > kMaxSymbols) return Bad("too many symbols");
    for (uint32_t i = 1; i < count; ++i) {
      Elf64_Sym s;
      if (!Image(symtab_ + uint64_t{i} * sizeof(Elf64_Sym), &s)) {
        return Bad("the symbol table is outside the image");
      }
      raw_symbols_.push_back(s);
      if (s.st_name >= strsize_ || s.st_shndx == SHN_UNDEF) continue;
      if (s.st_shndx != SHN_ABS &&
          (s.st_value > object_->image_size ||
           object_->image_size - s.st_value < s.st_size)) {
        return Bad("a symbol is outside the image");
      }
      const char* text =
          reinterpret_cast<const char*>(object_->image + strtab_ + s.st_name);
      const size_t room = std::min<uint64_t>(strsize_ - s.st_name, kMaxName);
      Symbol symbol;
      symbol.name.assign(text, strnlen(text, room));
      if (symbol.name.size() == room) return Bad("a symbol's name has no end");
      symbol.offset = s.st_value;
      symbol.size = s.st_size;
      symbol.function = ELF64_ST_TYPE(s.st_info) == STT_FUNC;
      if (!symbol.name.empty()) object_->symbols.push_back(std::move(symbol));
    }
    return true;
  }

  bool Relocations() {
    const uint64_t base = reinterpret_cast<uint64_t>(object_->image);
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relasize_;
         at += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      if (!Image(rela_ + at, &r))
        return Bad("the relocations are outside the image");
      uint64_t value = base + static_cast<uint64_t>(r.r_addend);
      const uint32_t type = ELF64_R_TYPE(r.r_info),
                     index = ELF64_R_SYM(r.r_info);
      if (type != kRelocRelative64) {
        if (index == 0 || index > raw_symbols_.size())
          return Bad("a relocation has no symbol");
        if (raw_symbols_[index - 1].st_shndx == SHN_UNDEF)
          return Bad("an undefined symbol");
        value += raw_symbols_[index - 1].st_value;
      }
      if (!Patch(type, r.r_offset, value)) return false;
    }
    return true;
  }

  bool Patch(uint32_t type, uint64_t offset, uint64_t value) {
    size_t bytes = 4;
    if (type == kRelocRelative64 || type == kRelocAbs64) {
      bytes = 8;
    } else if (type == kRelocAbs32Hi) {
      value >>= 32;
    } else if (type != kRelocAbs32Lo && type != kRelocAbs32) {
      return Bad("a relocation of unknown type");
    }
    if (offset > object_->image_size || object_->image_size - offset < bytes) {
      return Bad("a relocation outside the image");
    }
    std::memcpy(object_->image + offset, &value, bytes);
    return true;
  }

  bool Notes() {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_NOTE) continue;
      if (p.p_offset > size_ || size_ - p.p_offset < p.p_filesz)
        return Bad("a truncated note");
      uint64_t at = p.p_offset;
      const uint64_t end = p.p_offset + p.p_filesz;
      while (end - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr n;
        Read(at, &n);
        const uint64_t name = at + sizeof(n);
        const uint64_t desc = name + (uint64_t{n.n_namesz} + 3) / 4 * 4;
        const uint64_t next = desc + (uint64_t{n.n_descsz} + 3) / 4 * 4;
        if (desc > end || n.n_descsz > end - desc)
          return Bad("a truncated note");
        if (n.n_type == kNoteMetadata && n.n_namesz == 7 &&
            std::memcmp(data_ + name, "AMDGPU", 7) == 0) {
          auto value = ParseMsgPack(data_ + desc, n.n_descsz);
          if (!value) return Bad("the metadata note is not MessagePack");
          metadata_ = std::move(*value);
        }
        if (next >= end) break;
        at = next;
      }
    }
    return true;
  }

  bool Descriptors() {
    for (const Symbol& s : object_->symbols) {
      if (s.name.size() < 4 || s.name.compare(s.name.size() - 3, 3, ".kd") != 0)
        continue;
      KernelInfo k;
      k.name = s.name.substr(0, s.name.size() - 3);
      k.descriptor = s.offset;
      if (!Descriptor(s.offset, &k)) return false;
      Metadata(&k);
      if (k.kernarg_bytes > kMaxKernarg)
        return Bad("a kernel has more arguments than can be passed");
      object_->kernels.push_back(std::move(k));
    }
    return true;
  }

  bool Descriptor(uint64_t offset, KernelInfo* k) {
    uint8_t d[64];
    if (!Image(offset, &d))
      return Bad("a kernel descriptor is outside the image");
    auto u32 = [&d](int at) {
      uint32_t v;
      std::memcpy(&v, d + at, 4);
      return v;
    };
    int64_t entry;
    std::memcpy(&entry, d + 16, 8);
    k->lds_bytes = u32(0);
    k->scratch_bytes = u32(4);
    k->kernarg_bytes = u32(8);
    k->entry = offset + static_cast<uint64_t>(entry);
    k->rsrc3 = u32(44);
    k->rsrc1 = u32(48);
    k->rsrc2 = u32(52);
    k->properties = static_cast<uint16_t>(u32(56));
    if ((k->properties & kUsesDynamicStack) != 0)
      k->scratch_bytes = std::max(k->scratch_bytes, kStackLimit);
    k->preload = static_cast<uint16_t>(u32(56) >> 16);
    if (k->entry < object_->text_begin || k->entry >= object_->text_end ||
        k->entry % 4 != 0) {
      return Bad("a kernel's entry is outside the code");
    }
    return true;
  }

  void Metadata(KernelInfo* k) {
    const MsgValue* kernels = metadata_.Find("amdhsa.kernels");
    if (kernels == nullptr) return;
    for (const MsgValue& m : kernels->items) {
      if (m.Text(".symbol") != k->name + ".kd") continue;
      k->has_metadata = true;
      k->kernarg_bytes = static_cast<uint32_t>(
          m.Int(".kernarg_segment_size", k->kernarg_bytes));
      k->max_threads =
          static_cast<uint32_t>(m.Int(".max_flat_workgroup_size", 1024));
      k->vgprs = static_cast<uint32_t>(m.Int(".vgpr_count", 0));
      k->agprs = static_cast<uint32_t>(m.Int(".agpr_count", 0));
      k->sgprs = static_cast<uint32_t>(m.Int(".sgpr_count", 0));
      k->vgpr_spills = static_cast<uint32_t>(m.Int(".vgpr_spill_count", 0));
      k->sgpr_spills = static_cast<uint32_t>(m.Int(".sgpr_spill_count", 0));
      if (const MsgValue* r = m.Find(".reqd_workgroup_size"); r != nullptr) {
        for (size_t i = 0; i < 3 && i < r->items.size(); ++i) {
          k->reqd_size[i] = static_cast<uint32_t>(r->items[i].number);
        }
      }
      Args(m, k);
    }
  }

  static void Args(const MsgValue& kernel, KernelInfo* k) {
    const MsgValue* args = kernel.Find(".args");
    if (args == nullptr) return;
    for (const MsgValue& a : args->items) {
      KernelArg arg;
      arg.kind = a.Text(".value_kind");
      arg.offset = static_cast<uint32_t>(a.Int(".offset", 0));
      arg.size = static_cast<uint32_t>(a.Int(".size", 0));
      // An argument outside the segment cannot be passed.
      if (uint64_t{arg.offset} + arg.size > k->kernarg_bytes) continue;
      k->args.push_back(std::move(arg));
    }
  }

  const uint8_t* data_;
  size_t size_;
  CodeObject* object_ = nullptr;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Sym> raw_symbols_;
  uint64_t symtab_ = 0, strtab_ = 0, strsize_ = 0, rela_ = 0, relasize_ = 0,
           hash_ = 0;
  MsgValue metadata_;
  LoadError error_ = LoadError::kNone;
  std::string message_;
};

}  // namespace

bool CodeObject::Reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  image = static_cast<uint8_t*>(memory);
  image_size = bytes;
  return true;
}

CodeObject::~CodeObject() {
  if (image != nullptr) munmap(image, image_size);
}

const KernelInfo* CodeObject::FindKernel(const std::string& name) const {
  for (const KernelInfo& k : kernels) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

std::unique_ptr<CodeObject> LoadCodeObject(const void* data, size_t size,
                                           LoadError* error,
                                           std::string* message) {
  return Loader(static_cast<const uint8_t*>(data), size).Load(error, message);
}

}  // namespace ingot::emulator
