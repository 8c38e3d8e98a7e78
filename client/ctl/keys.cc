#include "client/ctl/keys.h"

#include <ctime>

namespace ingot::ctl {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string FormatTime(int64_t unix_ms) {
  const time_t seconds = static_cast<time_t>(unix_ms / 1000);
  tm parts;
  char text[32];
  gmtime_r(&seconds, &parts);
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%SZ", &parts);
  return text;
}

Status ParseHex(const char* field, const std::string& text,
                std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) break;
    *bytes += static_cast<char>(high * 16 + low);
  }
  if (bytes->size() * 2 == text.size() && bytes->size() == 32) return Status();
  return Error(INGOT_INVALID_ARGUMENT,
               "%s: found \"%s\", allowed 64 hexadecimal digits", field,
               text.c_str());
}

Status ListAll(Daemon* daemon, const std::string& op, const std::string& target,
               v1::ListResponse* all) {
  v1::ListRequest request;
  request.set_op(op);
  request.set_target(target);
  do {
    v1::ListResponse page;
    INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/List", request, &page));
    for (v1::ListEntry& entry : *page.mutable_entries()) {
      *all->add_entries() = std::move(entry);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return Status();
}

Status FindByDigits(const std::vector<std::string>& keys,
                    const std::string& text, std::string* key) {
  const std::string* found = nullptr;
  for (const std::string& candidate : keys) {
    if (client::Hex(candidate).compare(0, text.size(), text) != 0) continue;
    if (found != nullptr) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "key: found \"%s\", which several keys begin with; give "
                   "more digits",
                   text.c_str());
    }
    found = &candidate;
  }
  if (found == nullptr || text.empty()) {
    return Error(INGOT_NOT_FOUND, "no key begins with \"%s\"", text.c_str());
  }
  *key = *found;
  return Status();
}

Status ResolveKey(Daemon* daemon, const std::string& text, std::string* key) {
  if (text.size() == 64) return ParseHex("key", text, key);
  v1::ListResponse all;
  INGOT_CLIENT_RETURN_IF_ERROR(ListAll(daemon, "", "", &all));
  std::vector<std::string> keys;
  for (const v1::ListEntry& entry : all.entries()) keys.push_back(entry.key());
  return FindByDigits(keys, text, key);
}

}  // namespace ingot::ctl
