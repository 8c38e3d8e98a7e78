// What operators ask, without gRPC. May read the whole store: never called on
// the threads that serve look-ups.
#ifndef INGOT_SERVER_ADMIN_H_
#define INGOT_SERVER_ADMIN_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ingot/v1/admin.pb.h"
#include "proto/status.h"
#include "server/access.h"
#include "server/builder.h"
#include "server/counters.h"
#include "server/disabled.h"
#include "server/exporter.h"
#include "server/importer.h"
#include "server/job_queue.h"
#include "server/kernel_store.h"
#include "server/lookup.h"
#include "server/recorder.h"
#include "server/trust.h"
#include "server/worker_pool.h"

namespace ingot::server {

// Who asks, and whether the answer is still wanted.
struct AdminCall {
  std::shared_ptr<const Caller> caller;
  std::function<bool()> cancelled;  // from any thread
};

// Thread-safe.
class Admin {
 public:
  struct Parts {
    KernelStore& store;
    const Trust& trust;
    Builder& builder;
    const Bundles& bundles;
    Lookup& lookup;
    Disabled& disabled;
    TuningTable& tuning;
    Recorder& recorder;
    JobQueue& queue;
    WorkerPool& pool;
    Counters& counters;
    // The daemon is stopping: a scan ends early.
    std::function<bool()> stopping;
  };

  explicit Admin(const Parts& parts) : parts_(parts) {}

  absl::StatusOr<v1::StatsResponse> Stats(const v1::StatsRequest& request);
  absl::StatusOr<v1::ListResponse> List(const v1::ListRequest& request);
  absl::StatusOr<v1::DescribeResponse> Describe(
      const v1::DescribeRequest& request);
  // Waits for a worker when a disassembly is wanted.
  absl::StatusOr<v1::InspectResponse> Inspect(
      const v1::InspectRequest& request);
  absl::StatusOr<v1::DeleteResponse> Delete(const v1::DeleteRequest& request);
  // As long as it takes, or until the caller is gone.
  absl::StatusOr<v1::VerifyResponse> Verify(const v1::VerifyRequest& request,
                                            const AdminCall& call);
  absl::StatusOr<v1::PinResponse> Pin(const v1::PinRequest& request);
  absl::StatusOr<v1::CollectResponse> Collect(
      const v1::CollectRequest& request);
  absl::StatusOr<v1::DisableResponse> Disable(const v1::DisableRequest& request,
                                              const AdminCall& call);
  absl::StatusOr<v1::EnableResponse> Enable(const v1::EnableRequest& request);
  absl::StatusOr<v1::ListDisabledResponse> ListDisabled(
      const v1::ListDisabledRequest& request);
  absl::StatusOr<v1::TuneResponse> Tune(const v1::TuneRequest& request,
                                        const AdminCall& call);
  absl::StatusOr<v1::ListTuningResponse> ListTuning(
      const v1::ListTuningRequest& request);
  absl::StatusOr<v1::DeleteTuningResponse> DeleteTuning(
      const v1::DeleteTuningRequest& request);
  absl::StatusOr<v1::ExplainResponse> Explain(
      const v1::ExplainRequest& request);
  absl::StatusOr<v1::CandidatesResponse> ListCandidates(
      const v1::CandidatesRequest& request);
  absl::StatusOr<v1::ListReprosResponse> ListRepros(
      const v1::ListReprosRequest& request);
  absl::StatusOr<v1::GetReproResponse> GetRepro(
      const v1::GetReproRequest& request);
  absl::StatusOr<v1::ListSpecsResponse> ListSpecs(
      const v1::ListSpecsRequest& request);

  absl::StatusOr<v1::ListRecordedResponse> ListRecorded(
      const v1::ListRecordedRequest& request);
  absl::StatusOr<v1::ResetRecordedResponse> ResetRecorded(
      const v1::ResetRecordedRequest& request);

  // To be asked for one message after the other; must not outlive this.
  absl::StatusOr<std::unique_ptr<Exporter>> Export(
      const v1::ExportRequest& request);
  absl::StatusOr<v1::ImportResponse> Import(const v1::ImportRequest& request);

  bool stopping() const { return parts_.stopping(); }

  // An entry that the store found damaged and dropped, for Verify's answer.
  void OnDamage(absl::string_view key);
  // An entry that the store did not hand out for want of trust, likewise.
  void OnUntrusted();

 private:
  struct Verification {
    std::vector<std::string> damaged;
    uint64_t untrusted = 0;
  };

  // The key of an object, by reading records until one names the digest.
  absl::StatusOr<std::string> KeyOf(const v1::InspectRequest& request);
  absl::StatusOr<std::string> Disassemble(const std::string& object);
  absl::StatusOr<uint64_t> DeleteWhere(
      const std::function<bool(const v1::Record&)>& matches);

  ImportParts ForImports();

  const Parts parts_;
  ExportCounters exports_{parts_.counters};
  Importer importer_{ForImports()};
  const MonotonicTime started_ = SteadyNow();
  std::mutex mutex_;
  // What each Verify that runs now collects.
  std::vector<Verification*> verifications_;
};

}  // namespace ingot::server

#endif  // INGOT_SERVER_ADMIN_H_
