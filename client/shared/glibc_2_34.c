/* The static C++ runtime was built against the builder's glibc and refers to
 * functions that hosts with glibc 2.34 (RHEL 9) do not have. These hidden
 * definitions stand in, so that the library loads there. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* std::random_device; glibc 2.36. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value)) abort();
  return value;
}

struct search {
  uintptr_t pc;
  struct dl_find_object* result;
};

static int contains_pc(struct dl_phdr_info* info, size_t size, void* data) {
  struct search* search = data;
  const ElfW(Phdr)* frame = NULL;
  int found = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) frame = header;
    if (header->p_type != PT_LOAD || search->pc < start ||
        search->pc - start >= header->p_memsz) {
      continue;
    }
    search->result->dlfo_map_start = (void*)start;
    search->result->dlfo_map_end = (void*)(start + header->p_memsz);
    found = 1;
  }
  if (!found || frame == NULL) return 0;
  search->result->dlfo_eh_frame = (void*)(info->dlpi_addr + frame->p_vaddr);
  return 1;
}

/* The unwinder's way from an address to its unwind table; glibc 2.35. The same
 * answer from dl_iterate_phdr, which every glibc has. */
__attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  result->dlfo_flags = 0;
  result->dlfo_link_map = NULL;
  return dl_iterate_phdr(contains_pc, &search) ? 0 : -1;
}
