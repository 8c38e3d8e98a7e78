#include "client/testing/plans.h"

#include <elf.h>

#include <cstring>

#include "gtest/gtest.h"
#include "ingot/v1/plan.pb-c.h"

namespace ingot::client {
namespace {

v1::Expr Leaf(v1::ExprNode::Op op, int64_t value) {
  v1::Expr expr;
  v1::ExprNode* node = expr.add_nodes();
  node->set_op(op);
  node->set_value(value);
  return expr;
}

}  // namespace

v1::Expr Const(int64_t value) { return Leaf(v1::ExprNode::OP_CONST, value); }
v1::Expr DimAt(int64_t index) { return Leaf(v1::ExprNode::OP_DIM, index); }
v1::Expr StrideAt(int64_t operand, int64_t axis) {
  return Leaf(v1::ExprNode::OP_STRIDE, operand * kMaxAxes + axis);
}

v1::Expr Op(v1::ExprNode::Op op, std::initializer_list<v1::Expr> operands) {
  v1::Expr expr;
  for (const v1::Expr& operand : operands) expr.MergeFrom(operand);
  expr.add_nodes()->set_op(op);
  return expr;
}

v1::Launch* AddLaunch(v1::Variant* variant, const std::string& symbol,
                      const v1::Expr& grid) {
  v1::Launch* launch = variant->mutable_recipe()->add_steps()->mutable_launch();
  launch->set_key(Sha256(symbol.data(), symbol.size()));
  launch->set_symbol(symbol);
  for (const uint32_t items : {64u, 1u, 1u}) launch->add_workgroup(items);
  *launch->add_grid() = grid;
  *launch->add_grid() = Const(1);
  *launch->add_grid() = Const(1);
  return launch;
}

void AddArgument(v1::Launch* launch, v1::Argument::Kind kind, uint32_t index,
                 uint32_t size, const v1::Expr& offset) {
  v1::Argument* argument = launch->add_args();
  argument->set_kind(kind);
  argument->set_index(index);
  argument->set_size(size);
  *argument->mutable_offset() = offset;
}

v1::Variant* AddVariant(v1::Plan* plan, const std::string& name) {
  v1::Variant* variant = plan->add_variants();
  variant->set_name(name);
  variant->mutable_recipe()->set_version(1);
  *variant->mutable_recipe()->mutable_workspace_bytes() = Const(0);
  return variant;
}

Status Compile(const v1::Plan& wire, LaunchPlan* plan) {
  const std::string bytes = wire.SerializeAsString();
  Ingot__V1__Plan* message = ingot__v1__plan__unpack(
      nullptr, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  if (message == nullptr) return Error(INGOT_INTERNAL, "no plan");
  const Status status = MakeLaunchPlan(*message, plan);
  ingot__v1__plan__free_unpacked(message, nullptr);
  return status;
}

std::string FakeElf(uint32_t e_flags, const std::string& tail) {
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = 224;
  header.e_flags = e_flags;
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         tail;
}

std::unique_ptr<Prepared> Prepare(const v1::Plan& wire,
                                  std::shared_ptr<HipApi> hip,
                                  const std::string& target) {
  auto fetched = std::make_shared<FetchedPlan>();
  const Status status = Compile(wire, &fetched->plan);
  EXPECT_TRUE(status.ok()) << status.message;
  const auto loads = std::make_shared<std::atomic<uint64_t>>(0);
  for (const PlanKernel& kernel : fetched->plan.kernels) {
    KernelFacts facts;
    facts.key = kernel.key;
    facts.symbol = kernel.symbol;
    facts.target = target;
    fetched->facts.push_back(facts);
    fetched->objects.push_back(
        std::make_shared<CodeObject>(hip, facts, kernel.symbol, loads));
  }
  fetched->complete = true;
  auto prepared = std::make_unique<Prepared>();
  prepared->hip = std::move(hip);
  ingot_spec spec = {sizeof(spec)};
  prepared->order = MakeArgumentOrder(spec, fetched->plan);
  prepared->fetched = std::move(fetched);
  return prepared;
}

}  // namespace ingot::client
