// What RocksDB tells while it works: its log lines and background errors.
#ifndef INGOT_CACHE_ROCKSDB_HOOKS_H_
#define INGOT_CACHE_ROCKSDB_HOOKS_H_

#include <functional>
#include <memory>

#include "absl/strings/string_view.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"

namespace ingot::cache {

// Warnings and errors as lines to `log`, which may be empty. Nothing goes to a
// file: on a full disk this release aborts the process at the second line.
std::shared_ptr<rocksdb::Logger> MakeLogger(
    std::function<void(absl::string_view)> log);

// Calls `failed` when background work has failed (any thread, no lock held),
// and keeps RocksDB from resuming by itself.
std::shared_ptr<rocksdb::EventListener> MakeErrorListener(
    std::function<void(const rocksdb::Status&)> failed);

}  // namespace ingot::cache

#endif  // INGOT_CACHE_ROCKSDB_HOOKS_H_
