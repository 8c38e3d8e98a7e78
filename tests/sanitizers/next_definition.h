// What stands in front of a library's function calls the library's own.
#ifndef INGOT_TESTS_SANITIZERS_NEXT_DEFINITION_H_
#define INGOT_TESTS_SANITIZERS_NEXT_DEFINITION_H_

#include <dlfcn.h>

namespace ingot {

// The definition of the mangled `name` after this program's.
template <typename Function>
Function NextDefinition(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace ingot

#endif  // INGOT_TESTS_SANITIZERS_NEXT_DEFINITION_H_
