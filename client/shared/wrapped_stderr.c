/* nghttp2's archive was compiled for programs and reaches `stderr` directly,
 * which a shared object cannot offer. The linker's --wrap sends that reference
 * here. */
#include <stdio.h>

extern FILE* __real_stderr;

__attribute__((visibility("hidden"))) FILE* __wrap_stderr;

__attribute__((constructor)) static void set_wrapped_stderr(void) {
  __wrap_stderr = __real_stderr;
}
