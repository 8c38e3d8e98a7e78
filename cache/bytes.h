// Bytes shared by whoever holds them.
#ifndef INGOT_CACHE_BYTES_H_
#define INGOT_CACHE_BYTES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace ingot::cache {

// Used like a pointer to a string_view. Copying one copies no bytes: what a
// store read into memory is what is sent. Null until something is assigned.
class Bytes {
 public:
  Bytes() = default;
  // Also from what make_shared returns.
  template <typename String>
  Bytes(std::shared_ptr<String> bytes)  // NOLINT(google-explicit-constructor)
      : view_(bytes == nullptr ? absl::string_view()
                               : absl::string_view(*bytes)),
        owner_(std::move(bytes)) {}
  // A part of what `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, absl::string_view view)
      : view_(view), owner_(std::move(owner)) {}

  absl::string_view operator*() const { return view_; }
  const absl::string_view* operator->() const { return &view_; }
  friend bool operator==(const Bytes& bytes, std::nullptr_t) {
    return bytes.owner_ == nullptr;
  }

 private:
  absl::string_view view_;
  std::shared_ptr<const void> owner_;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_BYTES_H_
