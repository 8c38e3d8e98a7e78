// TLS over another stream, with certificates on both sides.
#ifndef INGOT_CLIENT_SRC_TLS_STREAM_H_
#define INGOT_CLIENT_SRC_TLS_STREAM_H_

#include <memory>

#include "client/src/address.h"
#include "client/src/byte_stream.h"
#include "client/src/deadline.h"
#include "client/src/status.h"
#include "client/src/tls_options.h"

namespace ingot::client {

// Whether the files can be used as things are now. INVALID_ARGUMENT names the
// option, the file and what is wrong with it.
Status CheckTlsFiles(const TlsOptions& options);

// Replaces a fresh connection to `address` by TLS over it, once either side has
// accepted the other. Files are read now, so new ones count from the next
// connection on. UNAVAILABLE says which side refused what.
Status StartTls(const TlsOptions& options, const Address& address,
                Deadline deadline, std::unique_ptr<ByteStream>* stream);

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_TLS_STREAM_H_
