// Who may do what: roles, and how callers come to have them.
#ifndef INGOT_SERVER_ACCESS_H_
#define INGOT_SERVER_ACCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/status.h"

namespace ingot::server {

enum class Role : uint8_t {
  kGet = 1,      // read kernels, records and statistics
  kCompile = 2,  // have kernels compiled that are not there
  kTune = 4,     // store tuning records
  kAdmin = 8,    // all of it, and change or remove what is stored
};

// A set of roles.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(Role role) : bits_(static_cast<uint8_t>(role)) {}  // NOLINT
  static constexpr Roles All() { return Roles(uint8_t{15}); }

  constexpr bool Has(Role role) const {
    return (bits_ & static_cast<uint8_t>(role)) != 0;
  }
  constexpr Roles operator|(Roles other) const {
    return Roles(static_cast<uint8_t>(bits_ | other.bits_));
  }
  constexpr bool operator==(const Roles&) const = default;

 private:
  constexpr explicit Roles(uint8_t bits) : bits_(bits) {}

  uint8_t bits_ = 0;
};

// "get", "compile", "tune" or "admin".
const char* RoleName(Role role);

// Who calls, as the daemon sees it.
struct Caller {
  std::string name;  // for the log and for turns in the queue
  Roles roles;

  // PERMISSION_DENIED names the role and the caller.
  absl::Status Require(Role role) const;
};

// Which caller has which roles. Immutable, so thread-safe.
//
// A rule is "who=role,role"; rules are separated by white space, and what all
// matching rules give adds up. On the Unix socket `who` is "user:NAME",
// "group:NAME" (both also by number) or "*"; root and the daemon's own user
// have all roles without a rule. Over TLS it is a name of the client's
// certificate (common name or alternative name), "name*" for all that begin so,
// or "*"; there, no rule means no role.
class AccessPolicy {
 public:
  // INVALID_ARGUMENT names the rule. `tcp_roles` is the list of roles of
  // whoever reaches a TCP port without TLS.
  static absl::StatusOr<AccessPolicy> Parse(const std::string& unix_rules,
                                            const std::string& tls_rules,
                                            const std::string& tcp_roles);

  Roles OfUnix(uid_t uid, gid_t gid) const;
  Roles OfCertificate(const std::vector<std::string>& names) const;
  Roles OfPlainTcp() const { return tcp_; }
  // Every caller of the Unix socket and of plain TCP has `role`, so that nobody
  // need ask who calls.
  bool Everybody(Role role) const;

 private:
  struct UnixRule {
    enum class Kind { kUser, kGroup, kAnybody } kind;
    uint32_t id;
    Roles roles;
  };
  struct TlsRule {
    std::string name;
    bool prefix;
    Roles roles;
  };

  std::vector<UnixRule> unix_;
  std::vector<TlsRule> tls_;
  Roles tcp_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_ACCESS_H_
