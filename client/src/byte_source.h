// Bytes that are read at offsets: a file, or memory.
#ifndef INGOT_CLIENT_SRC_BYTE_SOURCE_H_
#define INGOT_CLIENT_SRC_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "client/src/status.h"

namespace ingot::client {

// Thread-safe: no position is kept.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // What messages call it.
  virtual const std::string& name() const = 0;
  virtual uint64_t size() const = 0;
  // Exactly `size` bytes from `offset`; DATA_LOSS naming the offset where they
  // end earlier or cannot be read.
  virtual Status Read(uint64_t offset, size_t size, uint8_t* out) const = 0;
};

// An open regular file, read with pread: one that is cut short while it is read
// is an error, where a mapping would be a signal. NOT_FOUND when there is none,
// FAILED_PRECONDITION for what cannot be opened or is no file. A forked child
// may go on using it.
Status OpenFile(const std::string& path, std::unique_ptr<ByteSource>* source);

// `size` bytes at `data`, which must outlive the source.
std::unique_ptr<ByteSource> BytesInMemory(std::string name, const uint8_t* data,
                                          size_t size);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_BYTE_SOURCE_H_
