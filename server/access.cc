#include "server/access.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ingot::server {
namespace {

constexpr Role kRoles[] = {Role::kGet, Role::kCompile, Role::kTune,
                           Role::kAdmin};

absl::StatusOr<Roles> ParseRoles(absl::string_view key,
                                 absl::string_view text) {
  Roles roles;
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    word = absl::StripAsciiWhitespace(word);
    bool known = word == "none";
    for (const Role role : kRoles) {
      if (word != RoleName(role)) continue;
      roles = roles | (role == Role::kAdmin ? Roles::All() : Roles(role));
      known = true;
    }
    if (!known) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": found role ", word,
                       ", allowed get, compile, tune, admin, none"));
    }
  }
  return roles;
}

struct Rule {
  absl::string_view who;
  Roles roles;
};

absl::StatusOr<std::vector<Rule>> ParseRules(absl::string_view key,
                                             absl::string_view text) {
  std::vector<Rule> rules;
  for (const absl::string_view rule :
       absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    const size_t equals = rule.find('=');
    if (equals == absl::string_view::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": found ", rule, ", allowed who=role,role"));
    }
    INGOT_ASSIGN_OR_RETURN(const Roles roles,
                           ParseRoles(key, rule.substr(equals + 1)));
    rules.push_back({rule.substr(0, equals), roles});
  }
  return rules;
}

// The number of a user or group, given as one or by name. Only asked while the
// configuration is read, on one thread.
std::optional<uint32_t> UserId(const std::string& name) {
  uint32_t id = 0;
  if (absl::SimpleAtoi(name, &id)) return id;
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional(entry->pw_uid);
}
std::optional<uint32_t> GroupId(const std::string& name) {
  uint32_t id = 0;
  if (absl::SimpleAtoi(name, &id)) return id;
  const group* entry = getgrnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional(entry->gr_gid);
}

// Whether `uid` belongs to `gid` by the group database, beside its first group.
bool IsMember(uid_t uid, gid_t gid) {
  char buffer[1 << 14];
  passwd user = {};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &user, buffer, sizeof(buffer), &found) != 0 ||
      found == nullptr) {
    return false;
  }
  gid_t groups[256];
  int count = 256;
  if (getgrouplist(user.pw_name, user.pw_gid, groups, &count) < 0) return false;
  for (int i = 0; i < count; ++i) {
    if (groups[i] == gid) return true;
  }
  return false;
}

}  // namespace

const char* RoleName(Role role) {
  switch (role) {
    case Role::kGet:
      return "get";
    case Role::kCompile:
      return "compile";
    case Role::kTune:
      return "tune";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

absl::Status Caller::Require(Role role) const {
  if (roles.Has(role)) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "role ", RoleName(role), ": ", name, " does not have it; see ",
      "unix_roles, tls_roles and tcp_roles of ingotd"));
}

absl::StatusOr<AccessPolicy> AccessPolicy::Parse(const std::string& unix_rules,
                                                 const std::string& tls_rules,
                                                 const std::string& tcp_roles) {
  AccessPolicy policy;
  INGOT_ASSIGN_OR_RETURN(const std::vector<Rule> local,
                         ParseRules("unix_roles", unix_rules));
  for (const Rule& rule : local) {
    absl::string_view name = rule.who;
    std::optional<uint32_t> id = 0;
    auto kind = UnixRule::Kind::kAnybody;
    if (absl::ConsumePrefix(&name, "user:")) {
      kind = UnixRule::Kind::kUser;
      id = UserId(std::string(name));
    } else if (absl::ConsumePrefix(&name, "group:")) {
      kind = UnixRule::Kind::kGroup;
      id = GroupId(std::string(name));
    } else if (name != "*") {
      id = std::nullopt;
    }
    if (!id) {
      return absl::InvalidArgumentError(
          absl::StrCat("unix_roles: found ", rule.who,
                       ", allowed user:NAME, group:NAME of this machine, *"));
    }
    policy.unix_.push_back({kind, *id, rule.roles});
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<Rule> remote,
                         ParseRules("tls_roles", tls_rules));
  for (const Rule& rule : remote) {
    absl::string_view name = rule.who;
    const bool prefix = absl::ConsumeSuffix(&name, "*");
    policy.tls_.push_back({std::string(name), prefix, rule.roles});
  }
  INGOT_ASSIGN_OR_RETURN(policy.tcp_, ParseRoles("tcp_roles", tcp_roles));
  return policy;
}

Roles AccessPolicy::OfUnix(uid_t uid, gid_t gid) const {
  if (uid == 0 || uid == geteuid()) return Roles::All();
  Roles roles;
  for (const UnixRule& rule : unix_) {
    const bool matches =
        rule.kind == UnixRule::Kind::kAnybody ||
        (rule.kind == UnixRule::Kind::kUser && rule.id == uid) ||
        (rule.kind == UnixRule::Kind::kGroup &&
         (rule.id == gid || IsMember(uid, rule.id)));
    if (matches) roles = roles | rule.roles;
  }
  return roles;
}

bool AccessPolicy::Everybody(Role role) const {
  Roles anybody;
  for (const UnixRule& rule : unix_) {
    if (rule.kind == UnixRule::Kind::kAnybody) anybody = anybody | rule.roles;
  }
  return anybody.Has(role) && tcp_.Has(role);
}

Roles AccessPolicy::OfCertificate(const std::vector<std::string>& names) const {
  Roles roles;
  for (const TlsRule& rule : tls_) {
    for (const std::string& name : names) {
      if (rule.prefix ? absl::StartsWith(name, rule.name) : name == rule.name) {
        roles = roles | rule.roles;
      }
    }
  }
  return roles;
}

}  // namespace ingot::server
