#include "compiler/elf_view.h"

#include <elf.h>

#include <cstring>

namespace ingot {
namespace {

constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr uint16_t kMachine = 224;      // EM_AMDGPU

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("code object: ", what));
}

// The range, or an empty view with false when it is not inside `bytes`.
bool Slice(absl::string_view bytes, uint64_t offset, uint64_t size,
           absl::string_view* out) {
  if (offset > bytes.size() || size > bytes.size() - offset) return false;
  *out = bytes.substr(offset, size);
  return true;
}

// Hosts are little-endian, as code objects are; the bytes may lie anywhere.
template <typename T>
bool Read(absl::string_view bytes, uint64_t offset, T* out) {
  absl::string_view slice;
  if (!Slice(bytes, offset, sizeof(T), &slice)) return false;
  std::memcpy(out, slice.data(), sizeof(T));
  return true;
}

absl::string_view StringAt(absl::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const absl::string_view rest = table.substr(offset);
  const size_t end = rest.find('\0');
  return end == absl::string_view::npos ? absl::string_view()
                                        : rest.substr(0, end);
}

absl::Status FindMetadata(absl::string_view notes, absl::string_view* found) {
  uint64_t at = 0;
  Elf64_Nhdr note;
  while (Read(notes, at, &note)) {
    const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    at += sizeof(note);
    absl::string_view name;
    absl::string_view desc;
    if (!Slice(notes, at, note.n_namesz, &name) ||
        !Slice(notes, at + padded(note.n_namesz), note.n_descsz, &desc)) {
      return Damaged("a note reaches beyond its segment");
    }
    at += padded(note.n_namesz) + padded(note.n_descsz);
    if (note.n_type != kMetadataNote ||
        name != absl::string_view("AMDGPU\0", 7)) {
      continue;
    }
    if (!found->empty()) return Damaged("two metadata notes");
    *found = desc;
  }
  return absl::OkStatus();
}

absl::Status ReadSegments(const Elf64_Ehdr& header, ElfView* view) {
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!Read(view->bytes, header.e_phoff + i * sizeof(segment), &segment)) {
      return Damaged("program headers beyond the end");
    }
    absl::string_view contents;
    if (!Slice(view->bytes, segment.p_offset, segment.p_filesz, &contents)) {
      return Damaged("a segment beyond the end");
    }
    if (segment.p_type == PT_NOTE) {
      INGOT_RETURN_IF_ERROR(FindMetadata(contents, &view->metadata));
    }
  }
  if (view->metadata.empty()) return Damaged("no AMDGPU metadata note");
  return absl::OkStatus();
}

absl::Status ReadSymbols(absl::string_view table, absl::string_view strings,
                         ElfView* view) {
  Elf64_Sym symbol;
  for (uint64_t at = 0; Read(table, at, &symbol); at += sizeof(symbol)) {
    if (symbol.st_shndx == SHN_UNDEF) continue;
    view->symbols.push_back({StringAt(strings, symbol.st_name), symbol.st_value,
                             symbol.st_size,
                             ELF64_ST_TYPE(symbol.st_info) == STT_FUNC});
  }
  return absl::OkStatus();
}

absl::Status ReadSections(const Elf64_Ehdr& header, ElfView* view) {
  absl::string_view all;
  if (!Slice(view->bytes, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr),
             &all)) {
    return Damaged("section headers beyond the end");
  }
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    Read(all, i * sizeof(section), &section);
    if (section.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr names;
    absl::string_view table;
    absl::string_view strings;
    if (section.sh_link >= header.e_shnum ||
        !Read(all, section.sh_link * sizeof(names), &names) ||
        !Slice(view->bytes, section.sh_offset, section.sh_size, &table) ||
        !Slice(view->bytes, names.sh_offset, names.sh_size, &strings)) {
      return Damaged("dynamic symbols beyond the end");
    }
    return ReadSymbols(table, strings, view);
  }
  return Damaged("no dynamic symbols");
}

}  // namespace

absl::string_view ElfView::Contents(const ElfSymbol& symbol) const {
  Elf64_Ehdr header;
  if (!Read(bytes, 0, &header)) return {};
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!Read(bytes, header.e_phoff + i * sizeof(segment), &segment)) return {};
    if (segment.p_type != PT_LOAD || symbol.address < segment.p_vaddr) continue;
    const uint64_t offset = symbol.address - segment.p_vaddr;
    absl::string_view loaded;
    absl::string_view contents;
    if (Slice(bytes, segment.p_offset, segment.p_filesz, &loaded) &&
        Slice(loaded, offset, symbol.size, &contents)) {
      return contents;
    }
  }
  return {};
}

absl::StatusOr<ElfView> ParseElf(absl::string_view bytes) {
  Elf64_Ehdr header;
  if (!Read(bytes, 0, &header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Damaged(absl::StrCat("no ELF header in ", bytes.size(), " bytes"));
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_machine != kMachine) {
    return Damaged("not a little-endian ELF64 shared object for AMDGPU");
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_shentsize != sizeof(Elf64_Shdr)) {
    return Damaged("header tables of another entry size");
  }
  ElfView view;
  view.bytes = bytes;
  view.abi = header.e_ident[EI_OSABI];
  view.abi_version = header.e_ident[EI_ABIVERSION];
  view.flags = header.e_flags;
  INGOT_RETURN_IF_ERROR(ReadSegments(header, &view));
  INGOT_RETURN_IF_ERROR(ReadSections(header, &view));
  return view;
}

}  // namespace ingot
