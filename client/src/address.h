// Where a daemon listens.
#ifndef INGOT_CLIENT_SRC_ADDRESS_H_
#define INGOT_CLIENT_SRC_ADDRESS_H_

#include <string>

#include "client/src/status.h"

namespace ingot::client {

struct Address {
  enum Kind { kUnix, kAbstract, kTcp };
  Kind kind = kUnix;
  std::string text;  // as it was given
  std::string path;  // kUnix, kAbstract
  std::string host;  // kTcp
  std::string port;
  bool tls = false;  // kTcp: "https://"
};

// Reads "unix:/path", "unix:///path", "/path", "unix-abstract:name",
// "host:port" or "[v6]:port", the last two also after "https://".
// INVALID_ARGUMENT for anything else.
Status ParseAddress(const std::string& text, Address* address);

// Where a daemon listens that was told nothing: the first socket that exists of
// $XDG_RUNTIME_DIR/ingot/ingotd.sock, /run/ingot/ingotd.sock and
// /tmp/ingot-<uid>/ingotd.sock, else the first of these whose folder a daemon
// of this user would use.
std::string DefaultAddress();

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_ADDRESS_H_
