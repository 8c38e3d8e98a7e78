#include "compiler/tile/builder.h"

#include <algorithm>
#include <limits>

#include "compiler/tile/builder_ir.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::tile {
namespace {

mlir::Type ElemToIr(mlir::MLIRContext* context, Elem elem) {
  switch (elem) {
    case Elem::kI1:
      return mlir::IntegerType::get(context, 1);
    case Elem::kI8:
      return mlir::IntegerType::get(context, 8);
    case Elem::kI16:
      return mlir::IntegerType::get(context, 16);
    case Elem::kI32:
      return mlir::IntegerType::get(context, 32);
    case Elem::kI64:
      return mlir::IntegerType::get(context, 64);
    case Elem::kBF16:
      return mlir::BFloat16Type::get(context);
    case Elem::kF16:
      return mlir::Float16Type::get(context);
    case Elem::kF32:
      return mlir::Float32Type::get(context);
    case Elem::kF64:
      return mlir::Float64Type::get(context);
    case Elem::kGlobal:
      return mlir::LLVM::LLVMPointerType::get(context, 1);
    case Elem::kLds:
      return mlir::LLVM::LLVMPointerType::get(context, 3);
    case Elem::kBuffer:
      return mlir::LLVM::LLVMPointerType::get(context, 8);
  }
  return {};
}

Type ArgType(const KernelArg& arg) {
  switch (arg.kind) {
    case KernelArg::kOperand:
    case KernelArg::kWorkspace:
    case KernelArg::kPeer:
      return kGlobal;
    case KernelArg::kInteger:
    case KernelArg::kScalar:
    case KernelArg::kEpoch:
      break;
  }
  return arg.size == 4 ? kI32 : kI64;
}

absl::string_view View(llvm::StringRef text) {
  return {text.data(), text.size()};
}

// Every launch value is read once, at the start of the kernel; `limit` is what
// it stays below, 0 when that is not known.
Value LaunchId(Builder& builder, llvm::StringRef op, uint32_t limit) {
  BuilderAccess::State& state = BuilderAccess::Of(builder);
  auto it = state.ids.find(op.str());
  if (it != state.ids.end()) return it->second;
  mlir::OpBuilder::InsertionGuard guard(state.ir);
  state.ir.setInsertionPointToStart(state.entry);
  llvm::SmallVector<mlir::NamedAttribute, 1> range;
  if (limit > 0) {
    range.push_back(Named(builder, "range",
                          mlir::LLVM::ConstantRangeAttr::get(
                              state.ir.getContext(), llvm::APInt(32, 0),
                              llvm::APInt(32, limit))));
  }
  return state.ids.emplace(op.str(), Emit(builder, op, kI32, {}, range))
      .first->second;
}

}  // namespace

mlir::Type ToIr(Builder& builder, Type type) {
  mlir::Type elem =
      ElemToIr(BuilderAccess::Of(builder).ir.getContext(), type.elem);
  if (type.lanes == 1) return elem;
  return mlir::VectorType::get({type.lanes}, elem);
}

mlir::Type StructOf(Builder& builder, llvm::ArrayRef<mlir::Type> types) {
  return mlir::LLVM::LLVMStructType::getLiteral(
      BuilderAccess::Of(builder).ir.getContext(), types);
}

bool AllValid(std::initializer_list<Value> values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Value& value) { return value.valid(); });
}

Value Misuse(Builder& builder, absl::string_view where,
             absl::string_view what) {
  builder.Fail(absl::InternalError(absl::StrCat(where, ": ", what)));
  return {};
}

mlir::NamedAttribute Named(Builder& builder, llvm::StringRef name,
                           mlir::Attribute attribute) {
  return {BuilderAccess::Of(builder).ir.getStringAttr(name), attribute};
}

mlir::NamedAttribute NamedI32(Builder& builder, llvm::StringRef name,
                              int64_t value) {
  return Named(builder, name,
               BuilderAccess::Of(builder).ir.getI32IntegerAttr(value));
}

mlir::Operation* EmitOp(Builder& builder, llvm::StringRef name,
                        llvm::ArrayRef<mlir::Type> results,
                        llvm::ArrayRef<Value> operands, Attributes attributes) {
  BuilderAccess::State& state = BuilderAccess::Of(builder);
  mlir::OperationState op(state.loc, name);
  op.addTypes(results);
  for (const Value& operand : operands) {
    if (!operand.valid()) return nullptr;
    op.operands.push_back(ValueAccess::Ir(operand));
  }
  op.addAttributes(attributes);
  return state.ir.create(op);
}

Value Emit(Builder& builder, llvm::StringRef name, Type result,
           llvm::ArrayRef<Value> operands, Attributes attributes) {
  mlir::Operation* op =
      EmitOp(builder, name, {ToIr(builder, result)}, operands, attributes);
  if (op == nullptr) return {};
  if (op->getNumResults() != 1) {
    return Misuse(builder, View(name), "gives no single result");
  }
  llvm::SmallVector<mlir::Value, 1> folded;
  if (mlir::succeeded(BuilderAccess::Of(builder).ir.tryFold(op, folded)) &&
      folded.size() == 1) {
    op->erase();
    return ValueAccess::Wrap(&builder, folded[0], result);
  }
  return ValueAccess::Wrap(&builder, op->getResult(0), result);
}

mlir::OwningOpRef<mlir::ModuleOp> BuilderAccess::TakeModule(Builder& builder) {
  BuilderAccess::State& state = *builder.state_;
  mlir::LLVM::ReturnOp::create(state.ir, state.loc, mlir::ValueRange());
  return std::move(state.module);
}

Builder::Builder(mlir::MLIRContext* context, const KernelSpec& spec)
    : spec_(spec), state_(std::make_unique<State>(context)) {
  mlir::OpBuilder& ir = state_->ir;
  state_->module = mlir::ModuleOp::create(state_->loc);
  ir.setInsertionPointToEnd(state_->module->getBody());
  llvm::SmallVector<mlir::Type> types;
  for (const KernelArg& arg : spec.args) {
    types.push_back(ToIr(*this, ArgType(arg)));
  }
  auto signature = mlir::LLVM::LLVMFunctionType::get(
      mlir::LLVM::LLVMVoidType::get(context), types);
  auto function =
      mlir::LLVM::LLVMFuncOp::create(ir, state_->loc, spec.symbol, signature);
  function->setAttr("rocdl.kernel", ir.getUnitAttr());
  state_->function = function;
  state_->entry = function.addEntryBlock(ir);
  ir.setInsertionPointToStart(state_->entry);
  for (size_t i = 0; i < spec.args.size(); ++i) {
    state_->args.emplace(
        spec.args[i].name,
        Value(this, state_->entry->getArgument(i).getAsOpaquePointer(),
              ArgType(spec.args[i])));
  }
}

Builder::~Builder() = default;

void Builder::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

int64_t Builder::Int(absl::string_view param) {
  absl::StatusOr<int64_t> value = spec_.GetInt(param);
  if (value.ok()) return *value;
  Fail(value.status());
  return 0;
}

std::string Builder::String(absl::string_view param) {
  absl::StatusOr<std::string> value = spec_.GetString(param);
  if (value.ok()) return *std::move(value);
  Fail(value.status());
  return "";
}

Value Builder::I32(int64_t number) { return Const(kI32, number); }
Value Builder::I64(int64_t number) { return Const(kI64, number); }
Value Builder::F32(double number) { return Const(kF32, number); }
Value Builder::Bool(bool value) { return Const(kI1, int64_t{value}); }

Value Builder::Const(Type type, int64_t number) {
  if (type.IsFloat()) return Const(type, static_cast<double>(number));
  if (!type.IsInteger()) return Misuse(*this, "Const", "pointers have none");
  mlir::Type elem = ToIr(*this, type.Scalar());
  mlir::TypedAttr attribute = mlir::IntegerAttr::get(
      elem,
      llvm::APInt(64, static_cast<uint64_t>(number)).trunc(type.ElemBits()));
  if (type.lanes > 1) {
    attribute = mlir::SplatElementsAttr::get(
        llvm::cast<mlir::ShapedType>(ToIr(*this, type)), attribute);
  }
  return Emit(*this, "arith.constant", type, {},
              {Named(*this, "value", attribute)});
}

Value Builder::Const(Type type, double number) {
  if (!type.IsFloat()) {
    return Misuse(*this, "Const", "a float constant of a type that is none");
  }
  mlir::Type elem = ToIr(*this, type.Scalar());
  mlir::TypedAttr attribute = mlir::FloatAttr::get(elem, number);
  if (type.lanes > 1) {
    attribute = mlir::SplatElementsAttr::get(
        llvm::cast<mlir::ShapedType>(ToIr(*this, type)), attribute);
  }
  return Emit(*this, "arith.constant", type, {},
              {Named(*this, "value", attribute)});
}

Value Builder::Zero(Type type) { return Const(type, int64_t{0}); }

Value Builder::Arg(absl::string_view name) {
  auto it = state_->args.find(name);
  if (it != state_->args.end()) return it->second;
  return Misuse(*this, "Arg", absl::StrCat("no argument \"", name, "\""));
}

Value Builder::Arg(absl::string_view name, Type type) {
  return Bitcast(Arg(name), type);
}

Value Builder::ThreadX() {
  return LaunchId(*this, "rocdl.workitem.id.x", spec_.workgroup[0]);
}
Value Builder::BlockX() { return LaunchId(*this, "rocdl.workgroup.id.x", 0); }
Value Builder::BlockY() { return LaunchId(*this, "rocdl.workgroup.id.y", 0); }
Value Builder::BlockZ() { return LaunchId(*this, "rocdl.workgroup.id.z", 0); }

bool Builder::HasArg(absl::string_view name) const {
  return state_->args.find(name) != state_->args.end();
}

}  // namespace ingot::tile
