#include "client/src/address.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

namespace ingot::client {
namespace {

// A socket's path must fit sockaddr_un with its NUL, an abstract one with the
// NUL in front.
constexpr size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

bool TakePrefix(const std::string& text, const std::string& prefix,
                std::string* rest) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  *rest = text.substr(prefix.size());
  return true;
}

bool IsPort(const std::string& text) {
  if (text.empty() || text.size() > 5) return false;
  int port = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    port = port * 10 + (digit - '0');
  }
  return port >= 1 && port <= 65535;
}

Status BadAddress(const std::string& text, const char* why) {
  return Error(INGOT_INVALID_ARGUMENT,
               "address: found \"%.200s\" (%s), allowed unix:/path, "
               "unix-abstract:name, host:port, [v6]:port or https://host:port",
               text.c_str(), why);
}

bool IsSocket(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode);
}

}  // namespace

std::string DefaultAddress() {
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  const uid_t user = geteuid();
  const std::string session = runtime != nullptr && *runtime != '\0'
                                  ? std::string(runtime) + "/ingot/ingotd.sock"
                                  : "";
  const std::string system = "/run/ingot/ingotd.sock";
  const std::string own = "/tmp/ingot-" + std::to_string(user) + "/ingotd.sock";
  for (const std::string& path : {session, system, own}) {
    if (!path.empty() && IsSocket(path)) return "unix:" + path;
  }
  if (!session.empty()) return "unix:" + session;
  return "unix:" + (user == 0 ? system : own);
}

Status ParseAddress(const std::string& text, Address* address) {
  *address = Address();
  address->text = text;
  std::string path;
  if (TakePrefix(text, "unix-abstract:", &path)) {
    address->kind = Address::kAbstract;
    address->path = path;
  } else if (TakePrefix(text, "unix://", &path) ||
             TakePrefix(text, "unix:", &path) || text.compare(0, 1, "/") == 0) {
    address->kind = Address::kUnix;
    address->path = path.empty() && text[0] == '/' ? text : path;
  } else {
    address->kind = Address::kTcp;
    std::string place = text;
    address->tls = TakePrefix(text, "https://", &place);
    const size_t colon = place.rfind(':');
    if (colon == std::string::npos) return BadAddress(text, "no port");
    address->host = place.substr(0, colon);
    address->port = place.substr(colon + 1);
    if (!IsPort(address->port)) return BadAddress(text, "bad port");
    std::string& host = address->host;
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string::npos) {
      return BadAddress(text, "an IPv6 address without brackets");
    }
    if (host.empty()) return BadAddress(text, "no host");
    return Status();
  }
  if (address->path.empty()) return BadAddress(text, "no path");
  if (address->path.size() > kLongestPath) {
    return BadAddress(text, "path longer than a socket's may be");
  }
  return Status();
}

}  // namespace ingot::client
