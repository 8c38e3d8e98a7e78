// What a connection reads from and writes to: a socket, or TLS over one
// (tls_stream.h). Not thread-safe.
#ifndef INGOT_CLIENT_SRC_BYTE_STREAM_H_
#define INGOT_CLIENT_SRC_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "client/src/address.h"
#include "client/src/deadline.h"
#include "client/src/status.h"

namespace ingot::client {

class ByteStream {
 public:
  enum : int64_t { kWouldBlock = -1, kBroken = -2 };

  virtual ~ByteStream() = default;

  // Never block. Bytes moved, 0 from Read at the peer's end, or one of the two
  // above; after kBroken the stream is of no further use and error() says why.
  virtual int64_t Read(uint8_t* data, size_t size) = 0;
  virtual int64_t Write(const uint8_t* data, size_t size) = 0;

  // Waits until reading (or, with `write`, reading or writing) can go on.
  // False when the deadline passed first.
  virtual bool Wait(bool write, Deadline deadline) = 0;

  // Closes this process's descriptor without a word to the peer.
  virtual void Abandon() = 0;

  // What broke it; empty when nothing did.
  virtual std::string error() const = 0;
};

// Connects. UNAVAILABLE naming the address when nobody listens there,
// DEADLINE_EXCEEDED when the deadline passes first.
Status Connect(const Address& address, Deadline deadline,
               std::unique_ptr<ByteStream>* stream);

// Takes a connected socket over, which becomes non-blocking and is closed with
// the stream.
std::unique_ptr<ByteStream> AdoptSocket(int fd);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_BYTE_STREAM_H_
