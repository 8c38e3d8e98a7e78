#include "client/src/tuning.h"

#include <utility>

#include "client/src/canonical.h"
#include "client/src/spec_message.h"

namespace ingot::client {
namespace {

// protobuf-c's messages hold char*; packing only reads.
char* Borrow(const char* text) {
  return const_cast<char*>(text != nullptr ? text : "");
}

Deadline CallDeadline(const Client& client) {
  return Deadline::After(client.options().call_timeout_ms);
}

// A TuneRequest and what it points to; borrows the caller's strings.
class TuneMessage {
 public:
  TuneMessage(const ingot_spec& spec, const std::string& target,
              const ingot_tuning_record& record)
      : spec_(spec, target.c_str()), tuning_(record.tuning_count) {
    ingot__v1__tune_request__init(&message_);
    message_.spec = spec_.message();
    for (uint32_t i = 0; i < record.tuning_count; ++i) {
      const ingot_tuning& from = *INGOT_AT(ingot_tuning, record.tuning, i);
      ingot__v1__tuning__init(&tuning_[i]);
      tuning_[i].name = Borrow(from.name);
      tuning_[i].value = from.value;
      pointers_.push_back(&tuning_[i]);
    }
    message_.n_tuning = pointers_.size();
    message_.tuning = pointers_.data();
    message_.microseconds = record.microseconds;
    message_.device = Borrow(record.device);
    if (record.range_dim == nullptr) return;
    ingot__v1__tuning_range__init(&range_);
    range_.dim = Borrow(record.range_dim);
    range_.min = record.range_min;
    range_.max = record.range_max;
    message_.range = &range_;
  }
  TuneMessage(const TuneMessage&) = delete;
  TuneMessage& operator=(const TuneMessage&) = delete;

  const Ingot__V1__TuneRequest& message() const { return message_; }

 private:
  SpecMessage spec_;
  std::vector<Ingot__V1__Tuning> tuning_;
  std::vector<Ingot__V1__Tuning*> pointers_;
  Ingot__V1__TuningRange range_;
  Ingot__V1__TuneRequest message_;
};

}  // namespace

CandidateList::CandidateList(Message<Ingot__V1__CandidatesResponse> reply)
    : reply_(std::move(reply)) {
  size_t tunings = 0;
  for (size_t i = 0; i < reply_->n_candidates; ++i) {
    tunings += reply_->candidates[i]->n_tuning;
  }
  tuning_.reserve(tunings);  // candidates point into it
  for (size_t i = 0; i < reply_->n_candidates; ++i) {
    const Ingot__V1__Candidate& from = *reply_->candidates[i];
    ingot_candidate to = {sizeof(to)};
    to.chosen = from.chosen != 0;
    to.tuning = tuning_.data() + tuning_.size();
    to.tuning_count = static_cast<uint32_t>(from.n_tuning);
    to.kernel_count = static_cast<uint32_t>(from.n_keys);
    to.predicted_us = from.predicted_us;
    to.refusal = from.refusal;
    for (size_t k = 0; k < from.n_tuning; ++k) {
      tuning_.push_back({sizeof(ingot_tuning), 0, from.tuning[k]->name,
                         from.tuning[k]->value});
    }
    all_.push_back(to);
  }
}

Status ListCandidates(Client* client, const ingot_spec& spec, uint32_t limit,
                      std::unique_ptr<const CandidateList>* list) {
  const std::string& target = client->options().target;
  std::string digest;
  INGOT_CLIENT_RETURN_IF_ERROR(DigestSpec(&spec, target, &digest));
  SpecMessage message(spec, target.c_str());
  Ingot__V1__CandidatesRequest request;
  ingot__v1__candidates_request__init(&request);
  request.spec = message.message();
  request.limit = limit;
  Message<Ingot__V1__CandidatesResponse> reply;
  INGOT_CLIENT_RETURN_IF_ERROR(ListCandidates(client->channel(), request,
                                              CallDeadline(*client), &reply));
  *list = std::make_unique<CandidateList>(std::move(reply));
  return Status();
}

Status StoreTuning(Client* client, const ingot_spec& spec,
                   const ingot_tuning_record& record, uint64_t* epoch) {
  const std::string& target = client->options().target;
  std::string digest;
  INGOT_CLIENT_RETURN_IF_ERROR(DigestSpec(&spec, target, &digest));
  const TuneMessage request(spec, target, record);
  Message<Ingot__V1__TuneResponse> reply;
  INGOT_CLIENT_RETURN_IF_ERROR(Tune(client->channel(), request.message(),
                                    CallDeadline(*client), &reply));
  client->Forget(digest);
  if (reply->record == nullptr) {
    return Error(INGOT_INTERNAL, "the daemon kept a record without an epoch");
  }
  *epoch = reply->record->epoch;
  return Status();
}

Status DeleteTuning(Client* client, const uint64_t* epochs, size_t count,
                    uint64_t* deleted) {
  std::vector<uint64_t> records(epochs, epochs + count);
  Ingot__V1__DeleteTuningRequest request;
  ingot__v1__delete_tuning_request__init(&request);
  request.n_records = records.size();
  request.records = records.data();
  Message<Ingot__V1__DeleteTuningResponse> reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      DeleteTuning(client->channel(), request, CallDeadline(*client), &reply));
  client->Forget("");
  *deleted = reply->deleted;
  return Status();
}

}  // namespace ingot::client
