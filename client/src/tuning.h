// What a spec could be tuned to, and what was measured to be best: the calls of
// an autotuner.
#ifndef INGOT_CLIENT_SRC_TUNING_H_
#define INGOT_CLIENT_SRC_TUNING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/include/ingot/ingot.h"
#include "client/src/client.h"
#include "client/src/rpc.h"

namespace ingot::client {

// A daemon's list in the structs of ingot.h. Immutable.
class CandidateList {
 public:
  explicit CandidateList(Message<Ingot__V1__CandidatesResponse> reply);
  CandidateList(const CandidateList&) = delete;
  CandidateList& operator=(const CandidateList&) = delete;

  const std::vector<ingot_candidate>& candidates() const { return all_; }

 private:
  const Message<Ingot__V1__CandidatesResponse> reply_;  // owns the strings
  std::vector<ingot_tuning> tuning_;  // of all, one behind the other
  std::vector<ingot_candidate> all_;
};

Status ListCandidates(Client* client, const ingot_spec& spec, uint32_t limit,
                      std::unique_ptr<const CandidateList>* list);

// The record's epoch. `client` forgets what it prepared for the spec.
Status StoreTuning(Client* client, const ingot_spec& spec,
                   const ingot_tuning_record& record, uint64_t* epoch);

// How many of the records were in force. `client` forgets all.
Status DeleteTuning(Client* client, const uint64_t* epochs, size_t count,
                    uint64_t* deleted);

}  // namespace ingot::client

// The words behind the handle. Never freed, so that a list that was released is
// told from one that was not.
struct ingot_candidates {
  std::atomic<const ingot::client::CandidateList*> list = nullptr;
  ingot_candidates* next = nullptr;
};

#endif  // INGOT_CLIENT_SRC_TUNING_H_
