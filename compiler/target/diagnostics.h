// The only place where what MLIR and LLVM have to say becomes an absl::Status:
// the stage chooses the code, the tool gives the text.
#ifndef INGOT_COMPILER_TARGET_DIAGNOSTICS_H_
#define INGOT_COMPILER_TARGET_DIAGNOSTICS_H_

#include <string>

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Error.h"
#include "mlir/IR/Diagnostics.h"
#include "proto/status.h"

namespace ingot::target {

// Collects errors that MLIR emits in a context while it lives.
class MlirDiagnostics {
 public:
  explicit MlirDiagnostics(mlir::MLIRContext* context);
  // OK when `result` is success; else `code` with "<stage>: " and the errors
  // collected since the last call.
  absl::Status Check(mlir::LogicalResult result, absl::StatusCode code,
                     absl::string_view stage);

 private:
  std::string errors_;
  mlir::ScopedDiagnosticHandler handler_;
};

// Collects errors that LLVM reports through a context (LLVM's own default would
// end the process). Must outlive the use of the context.
class LlvmDiagnostics {
 public:
  explicit LlvmDiagnostics(llvm::LLVMContext& context);
  // OK when nothing was reported; else `code` with "<stage>: " and the errors.
  absl::Status Check(absl::StatusCode code, absl::string_view stage);

 private:
  std::string errors_;
};

absl::Status ToStatus(llvm::Error error, absl::StatusCode code,
                      absl::string_view stage);

// What LLVM cannot recover from ends the process. Makes it say why on standard
// error first, for the log of the process that watches this one. Idempotent.
void InstallFatalErrorHandler();

}  // namespace ingot::target

#endif  // INGOT_COMPILER_TARGET_DIAGNOSTICS_H_
