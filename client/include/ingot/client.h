// libingot for C++17 and later: owners of the handles of ingot.h, which holds
// the contract of every call. Header only, no exceptions.
#ifndef INGOT_CLIENT_H_
#define INGOT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ingot/ingot.h"

namespace ingot {

// Owns one ingot_prepared. Movable. Thread-safe as the handle is.
class Prepared {
 public:
  Prepared() = default;
  explicit Prepared(ingot_prepared* handle) : handle_(handle) {}
  ~Prepared() { ingot_prepared_release(handle_); }
  Prepared(Prepared&& other) noexcept : handle_(other.release()) {}
  Prepared& operator=(Prepared&& other) noexcept {
    reset(other.release());
    return *this;
  }

  ingot_prepared* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  ingot_prepared* release() { return std::exchange(handle_, nullptr); }
  void reset(ingot_prepared* handle = nullptr) {
    ingot_prepared_release(std::exchange(handle_, handle));
  }

  ingot_status Launch(void* stream, const ingot_launch_args& args) const {
    return ingot_launch(handle_, stream, &args);
  }

 private:
  ingot_prepared* handle_ = nullptr;
};

// Owns one ingot_candidates. Movable. Thread-safe as the handle is.
class Candidates {
 public:
  Candidates() = default;
  ~Candidates() { reset(); }
  Candidates(Candidates&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Candidates& operator=(Candidates&& other) noexcept {
    reset(std::exchange(other.handle_, nullptr));
    return *this;
  }

  uint32_t size() const { return ingot_candidates_count(handle_); }
  // Pointers in *candidate live as long as this. OUT_OF_RANGE past the end.
  ingot_status Get(uint32_t index, ingot_candidate* candidate) const {
    candidate->size = sizeof(*candidate);
    return ingot_candidates_get(handle_, index, candidate);
  }
  void reset(ingot_candidates* handle = nullptr) {
    ingot_candidates_release(std::exchange(handle_, handle));
  }

 private:
  ingot_candidates* handle_ = nullptr;
};

// Owns one ingot_client. Movable. Thread-safe as the handle is.
class Client {
 public:
  // `options` may be null. On failure *client stays as it was.
  static ingot_status Create(const ingot_client_options* options,
                             Client* client) {
    ingot_client* handle = nullptr;
    const ingot_status status = ingot_client_create(options, &handle);
    if (status == INGOT_OK) client->reset(handle);
    return status;
  }

  Client() = default;
  ~Client() { reset(); }
  Client(Client&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Client& operator=(Client&& other) noexcept {
    reset(std::exchange(other.handle_, nullptr));
    return *this;
  }

  ingot_client* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void reset(ingot_client* handle = nullptr) {
    ingot_client_destroy(std::exchange(handle_, handle));
  }

  // On failure *prepared stays as it was.
  ingot_status Prepare(const ingot_spec* spec,
                       const ingot_prepare_options* options,
                       Prepared* prepared) {
    ingot_prepared* handle = nullptr;
    const ingot_status status = ingot_prepare(handle_, spec, options, &handle);
    if (status == INGOT_OK) prepared->reset(handle);
    return status;
  }

  // On failure *candidates stays as it was.
  ingot_status ListCandidates(const ingot_spec* spec, uint32_t limit,
                              Candidates* candidates) {
    ingot_candidates* handle = nullptr;
    const ingot_status status =
        ingot_list_candidates(handle_, spec, limit, &handle);
    if (status == INGOT_OK) candidates->reset(handle);
    return status;
  }

  ingot_status StoreTuning(const ingot_spec* spec,
                           const ingot_tuning_record& record, uint64_t* epoch) {
    return ingot_tuning_store(handle_, spec, &record, epoch);
  }

 private:
  ingot_client* handle_ = nullptr;
};

}  // namespace ingot

#endif  // INGOT_CLIENT_H_
