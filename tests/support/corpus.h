// The kept inputs of a fuzz target: gzip of one after another, each behind its
// length in four bytes (tests/emulator/fuzz/corpus.py).
#ifndef INGOT_TESTS_SUPPORT_CORPUS_H_
#define INGOT_TESTS_SUPPORT_CORPUS_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/emulator/gzip_file.h"

namespace ingot::testing {

// Runs every input of the file; how many there were.
inline int ForEachInput(
    const std::string& path,
    const std::function<void(const uint8_t* data, size_t size)>& run) {
  const std::string all = emulator::ReadGzip(path);
  int inputs = 0;
  for (size_t at = 0; at + 4 <= all.size(); ++inputs) {
    uint32_t size;
    std::memcpy(&size, &all[at], sizeof(size));
    at += sizeof(size);
    if (size > all.size() - at) {
      ADD_FAILURE() << path << " is truncated";
      break;
    }
    // A copy of its own, so that a checker of memory sees a byte too far.
    const std::unique_ptr<uint8_t[]> input(new uint8_t[size]);
    std::memcpy(input.get(), all.data() + at, size);
    at += size;
    run(input.get(), size);
  }
  return inputs;
}

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_CORPUS_H_
