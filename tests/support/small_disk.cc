#include "tests/support/small_disk.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ingot::testing {
namespace {

namespace fs = std::filesystem;

bool Mount(const std::string& path, int mib) {
  // In a view of its own, so that it ends with this process, however that
  // comes about.
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return false;
  }
  const std::string size = "size=" + std::to_string(mib) + "m";
  return mount("tmpfs", path.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

std::string BallastIn(const std::string& path) { return path + "/ballast"; }

}  // namespace

SmallDisk::SmallDisk(int mib)
    : path_(fs::temp_directory_path() / "ingot-disk-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr || !Mount(path_, mib)) {
    why_ = std::strerror(errno);
  }
}

SmallDisk::~SmallDisk() {
  std::error_code ignored;
  if (mounted()) umount2(path_.c_str(), MNT_DETACH);
  fs::remove_all(path_, ignored);
}

void SmallDisk::Fill() const {
  std::ofstream file(BallastIn(path_), std::ios::binary | std::ios::app);
  // Blocks ever smaller, so that no space is left for small writes either.
  for (size_t block = 1 << 20; block >= 512; block /= 2) {
    const std::string bytes(block, 'x');
    while (
        file.write(bytes.data(), static_cast<std::streamsize>(block)).flush()) {
    }
    file.clear();
  }
}

void SmallDisk::Free() const {
  std::error_code ignored;
  fs::remove(BallastIn(path_), ignored);
}

}  // namespace ingot::testing
