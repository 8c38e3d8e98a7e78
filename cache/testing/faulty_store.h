// A store that fails or lies when a test says so.
#ifndef INGOT_CACHE_TESTING_FAULTY_STORE_H_
#define INGOT_CACHE_TESTING_FAULTY_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "cache/store.h"

namespace ingot::cache {

// Passes everything on to `store`, unless FailWith was given an error.
class FaultyStore : public Store {
 public:
  explicit FaultyStore(std::unique_ptr<Store> store)
      : store_(std::move(store)) {}

  // Every operation returns `error` without reaching the store; OK ends that.
  void FailWith(absl::Status error) {
    absl::MutexLock lock(&mutex_);
    error_ = std::move(error);
  }
  // Each Get gives its entry to this first.
  void Mutate(std::function<void(Entry&)> mutate) {
    absl::MutexLock lock(&mutex_);
    mutate_ = std::move(mutate);
  }
  // Runs `action` once, between the read and the return of the next Get.
  void AfterNextGet(std::function<void()> action) {
    absl::MutexLock lock(&mutex_);
    after_get_ = std::move(action);
  }

  absl::StatusOr<std::optional<Entry>> Get(absl::string_view key) override {
    INGOT_RETURN_IF_ERROR(error());
    INGOT_ASSIGN_OR_RETURN(std::optional<Entry> entry, store_->Get(key));
    std::function<void(Entry&)> mutate;
    std::function<void()> action;
    {
      absl::MutexLock lock(&mutex_);
      mutate = mutate_;
      action = std::exchange(after_get_, nullptr);
    }
    if (entry.has_value() && mutate) mutate(*entry);
    if (action) action();
    return entry;
  }
  absl::StatusOr<std::optional<Bytes>> GetRecord(
      absl::string_view key) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->GetRecord(key);
  }
  absl::StatusOr<std::optional<Bytes>> GetObject(
      absl::string_view digest) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->GetObject(digest);
  }
  absl::StatusOr<std::vector<std::string>> KeysOf(
      absl::string_view digest) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->KeysOf(digest);
  }
  absl::Status Publish(const Publication& publication) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->Publish(publication);
  }
  absl::StatusOr<std::optional<Bytes>> GetPlan(
      absl::string_view plan_key) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->GetPlan(plan_key);
  }
  absl::Status PutPlan(absl::string_view plan_key,
                       absl::string_view plan) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->PutPlan(plan_key, plan);
  }
  absl::StatusOr<bool> Delete(absl::string_view key) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->Delete(key);
  }
  absl::StatusOr<bool> Drop(absl::string_view key) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->Drop(key);
  }
  absl::StatusOr<bool> SetPinned(absl::string_view key, bool pinned) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->SetPinned(key, pinned);
  }
  absl::Status Scan(
      absl::string_view after, size_t limit,
      const std::function<bool(const ScanEntry&)>& visit) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->Scan(after, limit, visit);
  }
  absl::Status ScanPlans(
      absl::string_view after, size_t limit,
      const std::function<bool(const PlanEntry&)>& visit) override {
    INGOT_RETURN_IF_ERROR(error());
    return store_->ScanPlans(after, limit, visit);
  }
  void Touch(Kind kind, absl::string_view key) override {
    {
      absl::MutexLock lock(&mutex_);
      ++touches_;
    }
    store_->Touch(kind, key);
  }
  StoreStats Stats() const override { return store_->Stats(); }

  int touches() const {
    absl::MutexLock lock(&mutex_);
    return touches_;
  }

 private:
  absl::Status error() const {
    absl::MutexLock lock(&mutex_);
    return error_;
  }

  const std::unique_ptr<Store> store_;
  mutable absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::function<void(Entry&)> mutate_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> after_get_ ABSL_GUARDED_BY(mutex_);
  int touches_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace ingot::cache

#endif  // INGOT_CACHE_TESTING_FAULTY_STORE_H_
