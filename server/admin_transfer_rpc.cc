// Export and Import. An export is made as fast as its caller takes it, on a
// thread of its own, so that neither look-ups nor other operators wait for it.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/admin_rpc.h"

namespace ingot::server {
namespace {

class ExportReactor : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ExportReactor(TaskLine& line, std::function<bool()> stopping)
      : line_(line), stopping_(std::move(stopping)) {}

  // One of both, once.
  void Refuse(const absl::Status& why) { Finish(ToRpc(why)); }
  void Start(std::unique_ptr<Exporter> exporter) {
    exporter_ = std::move(exporter);
    AskForNext();
  }

  void OnWriteDone(bool ok) override {
    if (ok) {
      AskForNext();
    } else {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller is gone"));
    }
  }
  void OnDone() override { delete this; }

 private:
  void AskForNext() {
    if (line_.Push([this] { SendNext(); })) return;
    Refuse(WithRetryInfo(
        absl::ResourceExhaustedError(absl::StrCat(
            "exports: found ", line_.capacity(), " at work, allowed as many")),
        std::chrono::seconds(1)));
  }

  void SendNext() {
    if (stopping_()) {
      return Refuse(absl::UnavailableError("the daemon is draining"));
    }
    const absl::StatusOr<std::optional<v1::ExportResponse>> next =
        exporter_->Next();
    if (!next.ok() || !*next) return Refuse(next.status());
    message_ = BufferOf((*next)->SerializeAsString());
    StartWrite(&message_);
  }

  TaskLine& line_;
  const std::function<bool()> stopping_;
  std::unique_ptr<Exporter> exporter_;
  grpc::ByteBuffer message_;  // must live until OnWriteDone
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* AdminRpc::Export(
    Context* context, const Buffer* request) {
  auto* const reactor =
      new ExportReactor(exports_, [this] { return admin_.stopping(); });
  const absl::Status allowed = callers_.Of(*context)->Require(Role::kAdmin);
  v1::ExportRequest parsed;
  const MessageBytes bytes(*request);
  if (!allowed.ok()) {
    reactor->Refuse(allowed);
  } else if (!parsed.ParseFromArray(bytes.view().data(),
                                    static_cast<int>(bytes.view().size()))) {
    reactor->Refuse(
        absl::InvalidArgumentError("ExportRequest: the message is malformed"));
  } else {
    absl::StatusOr<std::unique_ptr<Exporter>> exporter = admin_.Export(parsed);
    if (exporter.ok()) {
      reactor->Start(*std::move(exporter));
    } else {
      reactor->Refuse(exporter.status());
    }
  }
  return reactor;
}

AdminRpc::Reactor* AdminRpc::Import(Context* context, const Buffer* request,
                                    Buffer* response) {
  return Run<Role::kAdmin, When::kOnThread, v1::ImportRequest>(
      *context, *request, response, [this](const v1::ImportRequest& parsed) {
        return admin_.Import(parsed);
      });
}

}  // namespace ingot::server
