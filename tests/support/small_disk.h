// A file system of a chosen size that can be filled and freed.
#ifndef INGOT_TESTS_SUPPORT_SMALL_DISK_H_
#define INGOT_TESTS_SUPPORT_SMALL_DISK_H_

#include <string>

namespace ingot::testing {

// Seen by this process and those it starts, and gone with them. Needs the right
// to mount, and no thread of this process before it. Not thread-safe.
class SmallDisk {
 public:
  explicit SmallDisk(int mib);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  // False: path() is a plain folder, and why() says what was refused.
  bool mounted() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  const std::string& path() const { return path_; }

  // Until nothing more can be written, and back.
  void Fill() const;
  void Free() const;

 private:
  std::string path_;
  std::string why_;
};

}  // namespace ingot::testing

#endif  // INGOT_TESTS_SUPPORT_SMALL_DISK_H_
