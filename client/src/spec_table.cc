#include "client/src/spec_table.h"

#include <cstring>

namespace ingot::client {
namespace {

constexpr size_t kFirstCapacity = 256;  // a power of two

}  // namespace

struct SpecTable::Entry {
  uint64_t hash;
  std::string bytes;
  std::atomic<ingot_prepared*> prepared;
};

// Open addressing, at most half full.
struct SpecTable::Array {
  explicit Array(size_t capacity)
      : mask(capacity - 1), slots(new std::atomic<Entry*>[capacity]()) {}
  const size_t mask;
  const std::unique_ptr<std::atomic<Entry*>[]> slots;
};

SpecTable::SpecTable() {
  arrays_.push_back(std::make_unique<Array>(kFirstCapacity));
  current_.store(arrays_.back().get());
}

SpecTable::~SpecTable() = default;

SpecTable::Entry* SpecTable::FindEntry(const SpecKey& key) const {
  const Array* array = current_.load(std::memory_order_acquire);
  for (size_t at = key.hash & array->mask;; at = (at + 1) & array->mask) {
    Entry* entry = array->slots[at].load(std::memory_order_acquire);
    if (entry == nullptr) return nullptr;
    if (entry->hash == key.hash && entry->bytes.size() == key.size &&
        memcmp(entry->bytes.data(), key.bytes, key.size) == 0) {
      return entry;
    }
  }
}

ingot_prepared* SpecTable::Find(const SpecKey& key) const {
  const Entry* entry = FindEntry(key);
  if (entry == nullptr) return nullptr;
  return entry->prepared.load(std::memory_order_acquire);
}

void SpecTable::Insert(Array* array, Entry* entry) {
  size_t at = entry->hash & array->mask;
  while (array->slots[at].load(std::memory_order_relaxed) != nullptr) {
    at = (at + 1) & array->mask;
  }
  array->slots[at].store(entry, std::memory_order_release);
}

void SpecTable::Put(const SpecKey& key, ingot_prepared* prepared) {
  if (Entry* entry = FindEntry(key)) {
    entry->prepared.store(prepared, std::memory_order_release);
    return;
  }
  auto entry = std::make_unique<Entry>();
  entry->hash = key.hash;
  entry->bytes.assign(reinterpret_cast<const char*>(key.bytes), key.size);
  entry->prepared.store(prepared, std::memory_order_relaxed);
  Array* array = arrays_.back().get();
  entries_.push_back(std::move(entry));
  if (entries_.size() * 2 <= array->mask + 1) {
    Insert(array, entries_.back().get());
    return;
  }
  arrays_.push_back(std::make_unique<Array>((array->mask + 1) * 2));
  for (const std::unique_ptr<Entry>& each : entries_) {
    Insert(arrays_.back().get(), each.get());
  }
  current_.store(arrays_.back().get(), std::memory_order_release);
}

void SpecTable::Remove(const std::function<bool(const ingot_prepared&)>& gone) {
  for (const std::unique_ptr<Entry>& entry : entries_) {
    const ingot_prepared* prepared =
        entry->prepared.load(std::memory_order_relaxed);
    if (prepared != nullptr && gone(*prepared)) {
      entry->prepared.store(nullptr, std::memory_order_release);
    }
  }
}

}  // namespace ingot::client
