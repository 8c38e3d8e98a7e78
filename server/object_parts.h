// Code objects on their way in, put together from parts: in memory, bounded,
// and forgotten when nobody goes on sending.
#ifndef INGOT_SERVER_OBJECT_PARTS_H_
#define INGOT_SERVER_OBJECT_PARTS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/status.h"
#include "server/clock.h"

namespace ingot::server {

inline constexpr size_t kMaxObjectBytes = size_t{64} << 20;
inline constexpr size_t kMaxPartBytes = size_t{1} << 20;

// Not thread-safe.
class ObjectParts {
 public:
  // Holds up to `max_bytes` in all; the objects longest untouched go first, and
  // those untouched for `lifetime`.
  ObjectParts(size_t max_bytes, std::chrono::nanoseconds lifetime, Clock clock)
      : max_bytes_(max_bytes), lifetime_(lifetime), clock_(std::move(clock)) {}

  // Returns how many bytes of the object are here now, from its beginning. A
  // part that does not begin there changes nothing. INVALID_ARGUMENT for sizes
  // that cannot be; DATA_LOSS, and the object is forgotten, when all are here
  // and are not what `digest` says.
  absl::StatusOr<uint64_t> Add(absl::string_view digest, uint64_t offset,
                               uint64_t total, absl::string_view data);

  // The whole object; nullopt while a byte is missing.
  std::optional<std::string> Whole(absl::string_view digest);
  void Forget(absl::string_view digest);
  size_t bytes() const { return bytes_; }

 private:
  struct Object {
    uint64_t total = 0;
    std::string bytes;
    MonotonicTime touched;
  };
  using Objects = std::map<std::string, Object, std::less<>>;

  void Erase(Objects::iterator object);
  void MakeRoom(absl::string_view keep, size_t bytes);

  const size_t max_bytes_;
  const std::chrono::nanoseconds lifetime_;
  const Clock clock_;
  size_t bytes_ = 0;
  Objects objects_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_OBJECT_PARTS_H_
