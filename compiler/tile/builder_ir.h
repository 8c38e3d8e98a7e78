// What lies behind tile/builder.h: the MLIR side of builder, values and types.
// For the sources of tile/ and for the pipeline that takes the finished module;
// op bodies do not include it.
#ifndef INGOT_COMPILER_TILE_BUILDER_IR_H_
#define INGOT_COMPILER_TILE_BUILDER_IR_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "compiler/tile/builder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ingot::tile {

struct Builder::State {
  explicit State(mlir::MLIRContext* context)
      : ir(context), loc(mlir::UnknownLoc::get(context)) {}

  mlir::OpBuilder ir;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation* function = nullptr;
  mlir::Block* entry = nullptr;
  std::map<std::string, Value, std::less<>> args;
  std::map<std::string, Value, std::less<>> ids;  // launch values, made once
  int64_t lds_bytes = 0;
  int lds_objects = 0;
  mlir::Attribute alias_domain;
};

struct ValueAccess {
  static mlir::Value Ir(Value value) {
    return mlir::Value::getFromOpaquePointer(value.ir_);
  }
  static Value Wrap(Builder* builder, mlir::Value ir, Type type) {
    return Value(builder, ir.getAsOpaquePointer(), type);
  }
};

struct BuilderAccess {
  using State = Builder::State;
  static State& Of(Builder& builder) { return *builder.state_; }
  // Writes the return and hands the module over; the builder is then empty.
  static mlir::OwningOpRef<mlir::ModuleOp> TakeModule(Builder& builder);
};

using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;

mlir::Type ToIr(Builder& builder, Type type);
// The literal struct of these, as intrinsics with several results return.
mlir::Type StructOf(Builder& builder, llvm::ArrayRef<mlir::Type> types);

// Whether all operands are valid: an invalid one has been reported already.
bool AllValid(std::initializer_list<Value> values);
// Records INTERNAL "<where>: <what>" and returns an invalid Value.
Value Misuse(Builder& builder, absl::string_view where, absl::string_view what);

// Emits the operation `name`; with a result type the value, folded if it can
// be.
Value Emit(Builder& builder, llvm::StringRef name, Type result,
           llvm::ArrayRef<Value> operands, Attributes attributes = {});
mlir::Operation* EmitOp(Builder& builder, llvm::StringRef name,
                        llvm::ArrayRef<mlir::Type> results,
                        llvm::ArrayRef<Value> operands,
                        Attributes attributes = {});

mlir::NamedAttribute Named(Builder& builder, llvm::StringRef name,
                           mlir::Attribute attribute);
mlir::NamedAttribute NamedI32(Builder& builder, llvm::StringRef name,
                              int64_t value);

}  // namespace ingot::tile

#endif  // INGOT_COMPILER_TILE_BUILDER_IR_H_
