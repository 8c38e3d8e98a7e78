#include "compiler/target/diagnostics.h"

#include <unistd.h>

#include <cstring>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::target {
namespace {

// A message of many repeated errors says nothing more than its first lines.
constexpr size_t kMaxMessage = 8192;

void AppendLine(std::string& errors, absl::string_view line) {
  if (errors.size() > kMaxMessage) return;
  if (!errors.empty()) errors += "; ";
  errors.append(line.data(), line.size());
}

absl::Status Failure(absl::StatusCode code, absl::string_view stage,
                     std::string& errors) {
  absl::Status status(
      code,
      absl::StrCat(stage, ": ",
                   errors.empty() ? "failed without saying why" : errors));
  errors.clear();
  return status;
}

class CollectingHandler : public llvm::DiagnosticHandler {
 public:
  explicit CollectingHandler(std::string& errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      AppendLine(errors_, text);
    }
    return true;
  }

 private:
  std::string& errors_;
};

// Runs while LLVM is failing, so it only writes: no allocation, no stdio.
void SayWhy(void*, const char* reason, bool) {
  constexpr char kPrefix[] = "fatal: LLVM: ";
  ssize_t ignored = write(STDERR_FILENO, kPrefix, sizeof(kPrefix) - 1);
  ignored = write(STDERR_FILENO, reason, strlen(reason));
  ignored = write(STDERR_FILENO, "\n", 1);
  (void)ignored;
}

}  // namespace

MlirDiagnostics::MlirDiagnostics(mlir::MLIRContext* context)
    : handler_(context, [this](mlir::Diagnostic& diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
          AppendLine(errors_, diagnostic.str());
        }
        return mlir::success();
      }) {}

absl::Status MlirDiagnostics::Check(mlir::LogicalResult result,
                                    absl::StatusCode code,
                                    absl::string_view stage) {
  if (mlir::succeeded(result)) {
    errors_.clear();
    return absl::OkStatus();
  }
  return Failure(code, stage, errors_);
}

LlvmDiagnostics::LlvmDiagnostics(llvm::LLVMContext& context) {
  context.setDiagnosticHandler(std::make_unique<CollectingHandler>(errors_));
}

absl::Status LlvmDiagnostics::Check(absl::StatusCode code,
                                    absl::string_view stage) {
  if (errors_.empty()) return absl::OkStatus();
  return Failure(code, stage, errors_);
}

absl::Status ToStatus(llvm::Error error, absl::StatusCode code,
                      absl::string_view stage) {
  std::string text = llvm::toString(std::move(error));
  return Failure(code, stage, text);
}

void InstallFatalErrorHandler() {
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(SayWhy);
}

}  // namespace ingot::target
