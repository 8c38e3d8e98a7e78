// Test data that is kept compressed.
#ifndef TESTS_EMULATOR_GZIP_FILE_H_
#define TESTS_EMULATOR_GZIP_FILE_H_

#include <zlib.h>

#include <string>

namespace ingot::emulator {

// Empty when there is no such file.
inline std::string ReadGzip(const std::string& path) {
  std::string bytes;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return bytes;
  char part[65536];
  for (int n; (n = gzread(file, part, sizeof(part))) > 0;)
    bytes.append(part, static_cast<size_t>(n));
  gzclose(file);
  return bytes;
}

}  // namespace ingot::emulator

#endif  // TESTS_EMULATOR_GZIP_FILE_H_
