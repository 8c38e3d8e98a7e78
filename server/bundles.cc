#include "server/bundles.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace ingot::server {
namespace {

namespace fs = std::filesystem;

void WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

Bundles::Bundles(std::string directory, size_t max_bundles)
    : directory_(std::move(directory)), max_bundles_(max_bundles) {}

std::string Bundles::Id(absl::string_view key) {
  return absl::BytesToHexString(key.substr(0, 8));
}

void Bundles::Write(absl::string_view key, const Bundle& bundle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const fs::path path = fs::path(directory_) / Id(key);
  std::error_code error;
  fs::create_directories(path, error);
  WriteFile(path / "key_encoding", bundle.key_encoding);
  WriteFile(path / "reason", bundle.reason);
  WriteFile(path / "log", bundle.log);
  if (!bundle.ir.empty()) WriteFile(path / "ir", bundle.ir);
  if (bundle.quarantined) WriteFile(path / "quarantined", "");
  PruneLocked();
}

void Bundles::Remove(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code error;
  fs::remove_all(fs::path(directory_) / Id(key), error);
}

std::vector<Bundle> Bundles::LoadQuarantined() const {
  std::vector<Bundle> bundles;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory_, error)) {
    if (!fs::exists(entry.path() / "quarantined", error)) continue;
    Bundle bundle;
    bundle.key_encoding = ReadFile(entry.path() / "key_encoding");
    bundle.reason = ReadFile(entry.path() / "reason");
    bundle.quarantined = true;
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

std::vector<std::string> Bundles::List() const {
  std::vector<std::pair<fs::file_time_type, std::string>> all;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory_, error)) {
    all.emplace_back(entry.last_write_time(error),
                     entry.path().filename().string());
  }
  std::sort(all.rbegin(), all.rend());
  std::vector<std::string> ids;
  for (auto& [time, id] : all) ids.push_back(std::move(id));
  return ids;
}

absl::StatusOr<Bundle> Bundles::Load(absl::string_view id) const {
  std::error_code error;
  const fs::path path = fs::path(directory_) / std::string(id);
  const bool is_id =
      id.size() == 16 && std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
      });
  if (!is_id || !fs::exists(path / "key_encoding", error)) {
    return absl::NotFoundError(
        absl::StrCat("id: found \"", absl::CEscape(id.substr(0, 64)),
                     "\", allowed the 16 digits of a bundle that is there"));
  }
  Bundle bundle;
  bundle.key_encoding = ReadFile(path / "key_encoding");
  bundle.reason = ReadFile(path / "reason");
  bundle.log = ReadFile(path / "log");
  bundle.ir = ReadFile(path / "ir");
  bundle.quarantined = fs::exists(path / "quarantined", error);
  return bundle;
}

void Bundles::PruneLocked() {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory_, error)) {
    all.emplace_back(entry.last_write_time(error), entry.path());
  }
  if (all.size() <= max_bundles_) return;
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i + max_bundles_ < all.size(); ++i) {
    fs::remove_all(all[i].second, error);
  }
}

}  // namespace ingot::server
