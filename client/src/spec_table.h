// Finds what was prepared for a SpecKey without a lock. Entries are only ever
// added until the table goes, so a reader needs no more than two loads; writers
// take turns. When it grows the old array stays, because a reader may be in it;
// together the old ones are no larger than the newest.
#ifndef INGOT_CLIENT_SRC_SPEC_TABLE_H_
#define INGOT_CLIENT_SRC_SPEC_TABLE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/include/ingot/ingot.h"
#include "client/src/spec_key.h"

namespace ingot::client {

class SpecTable {
 public:
  SpecTable();
  ~SpecTable();
  SpecTable(const SpecTable&) = delete;
  SpecTable& operator=(const SpecTable&) = delete;

  // nullptr when there is none. Any thread, no lock.
  ingot_prepared* Find(const SpecKey& key) const;

  // Adds or replaces. One thread at a time, as the next.
  void Put(const SpecKey& key, ingot_prepared* prepared);
  // Keys whose handle `gone` says yes to have none afterwards.
  void Remove(const std::function<bool(const ingot_prepared&)>& gone);

 private:
  struct Entry;
  struct Array;

  Entry* FindEntry(const SpecKey& key) const;
  static void Insert(Array* array, Entry* entry);

  std::atomic<Array*> current_;
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_SPEC_TABLE_H_
