// Plans and code objects made up by tests.
#ifndef INGOT_CLIENT_TESTING_PLANS_H_
#define INGOT_CLIENT_TESTING_PLANS_H_

#include <initializer_list>
#include <memory>
#include <string>

#include "client/src/prepared.h"
#include "ingot/v1/plan.pb.h"

namespace ingot::client {

// Postfix programs.
v1::Expr Const(int64_t value);
v1::Expr DimAt(int64_t index);
v1::Expr StrideAt(int64_t operand, int64_t axis);
v1::Expr Op(v1::ExprNode::Op op, std::initializer_list<v1::Expr> operands);

// A launch of one kernel named `symbol` with a workgroup of 64 and a grid of
// `grid` x 1 x 1, added to a variant's recipe.
v1::Launch* AddLaunch(v1::Variant* variant, const std::string& symbol,
                      const v1::Expr& grid);
void AddArgument(v1::Launch* launch, v1::Argument::Kind kind, uint32_t index,
                 uint32_t size, const v1::Expr& offset);

// A variant with an empty recipe of version 1.
v1::Variant* AddVariant(v1::Plan* plan, const std::string& name);

Status Compile(const v1::Plan& wire, LaunchPlan* plan);

// An ELF header of a code object with these flags, and `tail`.
std::string FakeElf(uint32_t e_flags, const std::string& tail = "");

// `wire` with a code object for each kernel, in the plan's own order. Fails the
// test when the plan is not accepted.
std::unique_ptr<Prepared> Prepare(const v1::Plan& wire,
                                  std::shared_ptr<HipApi> hip,
                                  const std::string& target = "gfx950");

}  // namespace ingot::client

#endif  // INGOT_CLIENT_TESTING_PLANS_H_
