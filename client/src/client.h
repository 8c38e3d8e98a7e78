// What an ingot_client stands for: a channel, the GPU runtime, and everything
// prepared so far. Thread-safe.
#ifndef INGOT_CLIENT_SRC_CLIENT_H_
#define INGOT_CLIENT_SRC_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/include/ingot/ingot.h"
#include "client/src/bundle_set.h"
#include "client/src/channel.h"
#include "client/src/fork_guard.h"
#include "client/src/prepared.h"
#include "client/src/rpc.h"
#include "client/src/signatures.h"
#include "client/src/spec_table.h"

namespace ingot::client {

struct ClientOptions {
  ChannelOptions channel;
  int64_t call_timeout_ms = 120'000;
  std::string target = "gfx950";  // canonical
  std::string hip_library;
  std::string bundle;  // file or folder; empty: none
  SignatureOptions signatures;
};

// ingot_prepare_options with the defaults filled in.
struct PrepareOptions {
  uint32_t fetch = INGOT_FETCH_ALL;
  uint32_t flags = 0;
  int64_t timeout_ms = 0;
  uint64_t pin_epoch = 0;
  const char* request_id = "";
};

struct Outcome {
  Status status;
  ingot_prepared* handle = nullptr;  // one use of it; only when OK
};

class Client : public ForkGuarded {
 public:
  Client(ClientOptions options, std::unique_ptr<Signatures> signatures);
  ~Client() override;

  Outcome Prepare(const ingot_spec& spec, const PrepareOptions& options);
  std::vector<Outcome> PrepareMany(const std::vector<const ingot_spec*>& specs,
                                   const PrepareOptions& options);

  // What was prepared without an epoch pin is asked for anew: of the spec with
  // this digest, or of all when it is empty. Handles stay what they are.
  void Forget(const std::string& digest);

  Channel* channel() { return &channel_; }
  const ClientOptions& options() const { return options_; }
  void FillStats(ingot_client_stats* stats) const;

 private:
  struct Wanted;
  using PlanKey = std::pair<std::string, uint64_t>;  // spec digest, epoch pin

  ingot_prepared* FindKnown(const ingot_spec& spec,
                            const PrepareOptions& options, const SpecKey& key);
  // Canonical encoding, then what is known under its digest; what remains
  // needs a call.
  bool Settle(Wanted* wanted, const PrepareOptions& options);
  // Keeps an answer for who asks again, unless it was asked for before a
  // Forget.
  void Keep(const Wanted& wanted, const PrepareOptions& options);
  void Finish(Wanted* wanted, const PrepareOptions& options);
  Status Call(Wanted* wanted, const PrepareOptions& options, Deadline deadline);
  // Call, and what the bundles have if that fails.
  Status Obtain(Wanted* wanted, const PrepareOptions& options,
                Deadline deadline);
  bool MayFallBack(const PrepareOptions& options) const;
  // `daemon` is why the daemon did not help, and what is returned if nothing
  // else does either.
  Status FallBack(Wanted* wanted, const PrepareOptions& options,
                  Deadline deadline, Status daemon);
  Status TakeFromBundle(Wanted* wanted, const PrepareOptions& options,
                        Deadline deadline);
  Status CallMany(const std::vector<Wanted*>& wanted,
                  const PrepareOptions& options, Deadline deadline);
  // Gives each of `open` its outcome, with as few calls as possible.
  void AskFor(const std::vector<Wanted*>& open, const PrepareOptions& options,
              Deadline deadline);
  void AskBatch(std::vector<Wanted*> batch, const PrepareOptions& options,
                Deadline deadline);
  // Whether a serialised GetKernelResponse is signed as it should be.
  Status CheckSignatures(std::string_view response);
  Status Absorb(const Ingot__V1__GetKernelResponse& response, Wanted* wanted,
                Deadline deadline);
  Status AbsorbKernel(const Ingot__V1__Kernel& kernel, FetchedPlan* fetched,
                      Deadline deadline);
  Status ObtainObject(const Ingot__V1__Kernel& kernel, const KernelFacts& facts,
                      Deadline deadline, std::shared_ptr<CodeObject>* object);
  std::shared_ptr<CodeObject> HeldObject(const std::string& digest);

  const ClientOptions options_;
  Channel channel_;
  const std::unique_ptr<Signatures> signatures_;
  const std::shared_ptr<HipApi> hip_;
  const std::shared_ptr<std::atomic<uint64_t>> modules_loaded_;
  std::atomic<uint64_t> prepare_calls_ = 0;
  std::atomic<uint64_t> objects_received_ = 0;
  std::atomic<uint64_t> object_bytes_ = 0;
  std::atomic<uint64_t> bundle_specs_ = 0;
  std::atomic<uint64_t> bundle_objects_ = 0;
  BundleSet bundles_;

  SpecTable table_;  // written under mutex()
  // The rest under mutex().
  uint64_t generation_ = 0;  // how often something was forgotten
  std::vector<ingot_prepared*> handles_;
  std::map<PlanKey, std::shared_ptr<const FetchedPlan>> plans_;
  std::map<std::string, std::shared_ptr<CodeObject>> objects_;  // by digest
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_CLIENT_H_
