// Keys and times as people type and read them.
#ifndef INGOT_CLIENT_CTL_KEYS_H_
#define INGOT_CLIENT_CTL_KEYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/ctl/command.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {

// "2026-01-31 12:00:00Z"
std::string FormatTime(int64_t unix_ms);

// 64 digits. `field` is what the error is about.
Status ParseHex(const char* field, const std::string& text, std::string* bytes);

// Every page of a listing, as one.
Status ListAll(Daemon* daemon, const std::string& op, const std::string& target,
               v1::ListResponse* all);

// The one of `keys` that begins with the digits `text`. NOT_FOUND,
// INVALID_ARGUMENT for several.
Status FindByDigits(const std::vector<std::string>& keys,
                    const std::string& text, std::string* key);

// A key by all its digits, stored or not, or by as many of the first as are
// unambiguous among those that are stored.
Status ResolveKey(Daemon* daemon, const std::string& text, std::string* key);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_KEYS_H_
