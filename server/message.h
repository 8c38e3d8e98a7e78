// An encoded message in pieces: what is large goes out from where it lies.
#ifndef INGOT_SERVER_MESSAGE_H_
#define INGOT_SERVER_MESSAGE_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "cache/bytes.h"

namespace ingot::server {

// Copying one copies no bytes.
class Message {
 public:
  Message() = default;
  explicit Message(std::string whole) { Append(std::move(whole)); }

  void Append(cache::Bytes piece) {
    size_ += piece->size();
    pieces_.push_back(std::move(piece));
  }
  void Append(std::string piece) {
    if (piece.empty()) return;
    Append(cache::Bytes(std::make_shared<const std::string>(std::move(piece))));
  }

  size_t size() const { return size_; }
  const auto& pieces() const { return pieces_; }

 private:
  size_t size_ = 0;
  absl::InlinedVector<cache::Bytes, 3> pieces_;  // one object's reply
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_MESSAGE_H_
