// A directory that is gone with the test.
#ifndef INGOT_CACHE_TESTING_TEMP_DIR_H_
#define INGOT_CACHE_TESTING_TEMP_DIR_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot::cache {

class TempDir {
 public:
  TempDir() {
    std::string name =
        std::filesystem::temp_directory_path() / "ingot-test-XXXXXX";
    // A test without its directory has nothing to say.
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TESTING_TEMP_DIR_H_
