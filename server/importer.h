// Admin.Import: kernels and plans of another store, each checked before it is
// stored, so that nothing is ever seen that was not.
#ifndef INGOT_SERVER_IMPORTER_H_
#define INGOT_SERVER_IMPORTER_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "cache/store.h"
#include "ingot/v1/bundle.pb.h"
#include "ingot/v1/record.pb.h"
#include "proto/status.h"
#include "server/clock.h"
#include "server/counters.h"
#include "server/object_parts.h"

namespace ingot::server {

struct ImportParts {
  cache::Store& store;
  Counters& counters;
  // The daemon's policy of signatures, as for what is stored.
  std::function<absl::Status(absl::string_view key, absl::string_view record)>
      vouch_record;
  std::function<absl::Status(absl::string_view plan_key,
                             absl::string_view plan)>
      vouch_plan;
  // A kernel is here now, whatever was known of it before.
  std::function<void(absl::string_view key)> on_imported;
  Clock clock = SteadyNow;
};

// Thread-safe; requests take turns.
class Importer {
 public:
  explicit Importer(const ImportParts& parts);

  // RESOURCE_EXHAUSTED when the store takes no writes: what was answered before
  // is stored, and the rest can be sent again later.
  absl::StatusOr<v1::ImportResponse> Import(const v1::ImportRequest& request);

 private:
  // A result, or the error that ends the request.
  using Result = absl::StatusOr<v1::ImportResult>;

  Result ImportKernel(const v1::ImportKernel& kernel, bool dry_run);
  Result ImportPlan(const std::string& bytes, bool dry_run);
  absl::StatusOr<std::optional<std::string>> ObjectOf(
      const v1::ImportKernel& kernel, const std::string& digest);
  // PRESENT or REFUSED by what is stored under the record's key; nullopt when
  // nothing is, or nothing that may be used.
  absl::StatusOr<std::optional<v1::ImportResult>> Stored(
      const v1::Record& record);
  absl::Status CheckRecord(const std::string& key,
                           const std::string& record) const;
  static std::string CounterOf(absl::string_view kind, v1::ImportState state);
  void Count(absl::string_view kind, const v1::ImportResult& result,
             bool dry_run);

  const ImportParts parts_;
  std::mutex mutex_;
  ObjectParts objects_;  // under mutex_
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_IMPORTER_H_
