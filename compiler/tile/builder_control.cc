// Control flow of tile/builder.h, as scf.
#include "compiler/tile/builder_ir.h"

namespace ingot::tile {
namespace {

// Adds a block to `region` and points the builder into it.
mlir::Block* EnterBlock(Builder& builder, mlir::Region& region) {
  return BuilderAccess::Of(builder).ir.createBlock(&region);
}

void Yield(Builder& builder, const Values& values) {
  EmitOp(builder, "scf.yield", {}, values);
}

llvm::SmallVector<mlir::Type> TypesOf(Builder& builder,
                                      absl::Span<const Value> values) {
  llvm::SmallVector<mlir::Type> types;
  for (const Value& value : values)
    types.push_back(ToIr(builder, value.type()));
  return types;
}

bool AllValid(absl::Span<const Value> values) {
  for (const Value& value : values) {
    if (!value.valid()) return false;
  }
  return true;
}

bool SameTypes(absl::Span<const Value> a, absl::Span<const Value> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type()) return false;
  }
  return true;
}

Values Results(Builder& builder, mlir::Operation* op,
               absl::Span<const Value> like) {
  Values results;
  for (size_t i = 0; i < like.size(); ++i) {
    results.push_back(
        ValueAccess::Wrap(&builder, op->getResult(i), like[i].type()));
  }
  return results;
}

}  // namespace

void Builder::If(Value condition, absl::FunctionRef<void()> then) {
  If(
      condition,
      [&]() -> Values {
        then();
        return {};
      },
      [] { return Values(); });
}

// The result types are known only when both sides are built, so the operation
// is made last and takes the two regions over.
Values Builder::If(Value condition, absl::FunctionRef<Values()> then,
                   absl::FunctionRef<Values()> otherwise) {
  if (!condition.valid()) return {};
  mlir::OpBuilder& ir = state_->ir;
  mlir::OperationState op(state_->loc, "scf.if");
  op.addOperands(ValueAccess::Ir(condition));
  mlir::Region* then_region = op.addRegion();
  mlir::Region* else_region = op.addRegion();
  Values then_values, else_values;
  {
    mlir::OpBuilder::InsertionGuard guard(ir);
    EnterBlock(*this, *then_region);
    then_values = then();
    Yield(*this, then_values);
    EnterBlock(*this, *else_region);
    else_values = otherwise();
    Yield(*this, else_values);
  }
  if (!AllValid(then_values) || !AllValid(else_values)) return {};
  if (!SameTypes(then_values, else_values)) {
    Misuse(*this, "If", "the two sides give different types");
    return {};
  }
  // Without results there is nothing to yield on an empty side.
  if (then_values.empty() && else_region->front().getOperations().size() == 1) {
    else_region->getBlocks().clear();
  }
  op.addTypes(TypesOf(*this, then_values));
  return Results(*this, ir.create(op), then_values);
}

// scf.while with everything in its first region and a second one that only
// hands the values back lowers to a single block that branches to itself.
Values Builder::Repeat(
    absl::Span<const Value> initial,
    absl::FunctionRef<Round(absl::Span<const Value>)> round) {
  if (!AllValid(initial)) return {};
  mlir::OpBuilder& ir = state_->ir;
  const llvm::SmallVector<mlir::Type> types = TypesOf(*this, initial);
  const llvm::SmallVector<mlir::Location> locations(types.size(), state_->loc);
  mlir::OperationState op(state_->loc, "scf.while");
  for (const Value& value : initial) {
    op.operands.push_back(ValueAccess::Ir(value));
  }
  op.addTypes(types);
  mlir::Region* before = op.addRegion();
  mlir::Region* after = op.addRegion();
  bool matches = false;
  {
    mlir::OpBuilder::InsertionGuard guard(ir);
    mlir::Block* block = ir.createBlock(before, {}, types, locations);
    Values carried;
    for (size_t i = 0; i < initial.size(); ++i) {
      carried.push_back(
          ValueAccess::Wrap(this, block->getArgument(i), initial[i].type()));
    }
    Round next = round(carried);
    matches = next.again.valid() && next.again.type() == kI1 &&
              AllValid(next.carried) && SameTypes(next.carried, initial);
    Values operands = {next.again};
    operands.insert(operands.end(), next.carried.begin(), next.carried.end());
    EmitOp(*this, "scf.condition", {}, operands);
    block = ir.createBlock(after, {}, types, locations);
    mlir::OperationState yield(state_->loc, "scf.yield");
    yield.addOperands(block->getArguments());
    ir.create(yield);
  }
  if (!matches) {
    Misuse(*this, "Repeat", "a round does not give the types it was given");
    return {};
  }
  return Results(*this, ir.create(op), initial);
}

Values Builder::For(
    Value begin, Value end, int64_t step, absl::Span<const Value> initial,
    absl::FunctionRef<Values(Value, absl::Span<const Value>)> body) {
  if (!begin.valid() || !end.valid()) return {};
  Values carried = {begin};
  carried.insert(carried.end(), initial.begin(), initial.end());
  const auto loop = [&]() -> Values {
    Values results =
        Repeat(carried, [&](absl::Span<const Value> values) -> Round {
          Values next = {values[0] + step};
          for (const Value& value : body(values[0], values.subspan(1))) {
            next.push_back(value);
          }
          return {next[0] < end, next};
        });
    if (!results.empty()) results.erase(results.begin());
    return results;
  };
  const std::optional<int64_t> first = begin.AsConstant();
  const std::optional<int64_t> last = end.AsConstant();
  const Values unchanged(initial.begin(), initial.end());
  if (first && last) return *first < *last ? loop() : unchanged;
  return If(begin < end, loop, [&] { return unchanged; });
}

}  // namespace ingot::tile
