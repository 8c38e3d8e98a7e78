// libFuzzer's entry point; the build says which target a program is.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ingot::fuzz::INGOT_FUZZ_TARGET(data, size);
  return 0;
}
