// The arguments of one launch, as the launch path reads them. Lives on the
// stack; allocates nothing.
#ifndef INGOT_CLIENT_SRC_LAUNCH_FRAME_H_
#define INGOT_CLIENT_SRC_LAUNCH_FRAME_H_

#include <cstdint>

#include "client/src/prepared.h"

namespace ingot::client {

// One launch: arguments brought into the plan's order, then guards and
// expressions over them.
class Frame {
 public:
  Frame(const Prepared& prepared, const ingot_launch_args& args)
      : plan_(prepared.fetched->plan), order_(prepared.order), args_(args) {
    values_.dims = dims_;
    values_.strides = strides_;
  }

  Status Init(int64_t cu_count) {
    values_.cu_count = cu_count;
    INGOT_CLIENT_RETURN_IF_ERROR(CheckCounts());
    INGOT_CLIENT_RETURN_IF_ERROR(ReadDims());
    return ReadStrides();
  }

  bool has_operands() const { return args_.operands != nullptr; }
  const LaunchValues& values() const { return values_; }

  void* Operand(uint32_t plan_index) const {
    return args_.operands[order_.plan_operands[plan_index]];
  }

  // Whether a guard holds; what it is about is unknown when there are no
  // pointers, and then it does.
  bool Holds(const PlanGuard& guard) const {
    if (guard.subject == PlanGuard::kAlignment) {
      if (!has_operands()) return true;
      const uintptr_t address =
          reinterpret_cast<uintptr_t>(Operand(guard.index));
      return address % static_cast<uint64_t>(guard.multiple_of) == 0;
    }
    if (guard.subject == PlanGuard::kStride && !StrideKnown(guard.index)) {
      return true;
    }
    const int64_t value = guard.subject == PlanGuard::kDim
                              ? dims_[guard.index]
                              : strides_[guard.index];
    return value >= guard.min && (guard.max == 0 || value <= guard.max) &&
           value % guard.multiple_of == 0;
  }

  // The first guard of `variant` that does not hold; nullptr when it matches.
  const PlanGuard* Refusing(const PlanVariant& variant) const {
    for (const PlanGuard& guard : variant.guards) {
      if (!Holds(guard)) return &guard;
    }
    return nullptr;
  }

  Status NoVariant() const {
    const PlanGuard& guard = *Refusing(plan_.variants.back());
    const long long min = guard.min;
    const long long max = guard.max;
    const long long multiple = guard.multiple_of;
    if (guard.subject == PlanGuard::kDim) {
      return Error(INGOT_INVALID_ARGUMENT,
                   "no variant: dim %s: found %lld, allowed %lld to %lld "
                   "(0: any), multiple of %lld",
                   plan_.dims[guard.index].name.c_str(),
                   static_cast<long long>(dims_[guard.index]), min, max,
                   multiple);
    }
    if (guard.subject == PlanGuard::kAlignment) {
      return Error(
          INGOT_INVALID_ARGUMENT,
          "no variant: operand %s: found address %p, allowed a "
          "multiple of %lld bytes; a spec may state a weaker alignment",
          plan_.operands[guard.index].name.c_str(), Operand(guard.index),
          multiple);
    }
    return Error(INGOT_INVALID_ARGUMENT,
                 "no variant: stride %u of operand %s: found %lld, allowed "
                 "%lld to %lld (0: any), multiple of %lld",
                 guard.index % kMaxAxes,
                 plan_.operands[guard.index / kMaxAxes].name.c_str(),
                 static_cast<long long>(strides_[guard.index]), min, max,
                 multiple);
  }

  // Of an axis of an operand, whether a launch reads it or not.
  Status Stride(uint32_t operand, uint32_t axis, int64_t* value) const {
    const PlanOperand& planned = plan_.operands[operand];
    if (!planned.dynamic) {
      return Value(planned.strides[axis], "a stride", value);
    }
    const int64_t* given = DynamicStrides(operand);
    if (given == nullptr) return NoStrides(planned);
    *value = given[axis];
    return Status();
  }

  Status Value(const Expr& expr, const char* of, int64_t* value) const {
    if (Evaluate(expr, values_, value)) return Status();
    return Error(INGOT_OUT_OF_RANGE,
                 "%s does not fit 64 bits with these dims and strides", of);
  }

 private:
  Status CheckCounts() const {
    if (args_.dim_count != order_.dims.size() || args_.dims == nullptr) {
      return Error(INGOT_INVALID_ARGUMENT, "dims: found %u%s, allowed %zu",
                   args_.dim_count, args_.dims == nullptr ? " at NULL" : "",
                   order_.dims.size());
    }
    if (has_operands() && args_.operand_count != order_.operands.size()) {
      return Error(INGOT_INVALID_ARGUMENT, "operands: found %u, allowed %zu",
                   args_.operand_count, order_.operands.size());
    }
    return Status();
  }

  Status ReadDims() {
    for (size_t i = 0; i < plan_.dims.size(); ++i) {
      const PlanDim& dim = plan_.dims[i];
      const int64_t value = args_.dims[order_.plan_dims[i]];
      if (value < dim.min || value > dim.max || value % dim.multiple_of != 0) {
        return Error(INGOT_INVALID_ARGUMENT,
                     "dim %s: found %lld, allowed %lld to %lld, multiple of "
                     "%lld: that is what was prepared",
                     dim.name.c_str(), static_cast<long long>(value),
                     static_cast<long long>(dim.min),
                     static_cast<long long>(dim.max),
                     static_cast<long long>(dim.multiple_of));
      }
      dims_[i] = value;
    }
    return Status();
  }

  // Where the caller has the strides of a dynamic operand; nullptr: nowhere.
  const int64_t* DynamicStrides(uint32_t operand) const {
    if (args_.strides == nullptr) return nullptr;
    return args_.strides[order_.plan_operands[operand]];
  }

  bool StrideKnown(uint32_t slot) const {
    const uint32_t operand = slot / kMaxAxes;
    return !plan_.operands[operand].dynamic ||
           DynamicStrides(operand) != nullptr;
  }

  static Status NoStrides(const PlanOperand& operand) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "strides of operand %s: found NULL, allowed %u values, "
                 "because the spec says they come with each launch",
                 operand.name.c_str(), operand.axes);
  }

  Status ReadStrides() {
    for (const uint32_t slot : plan_.used_strides) {
      const uint32_t index = slot / kMaxAxes;
      const PlanOperand& operand = plan_.operands[index];
      if (!operand.dynamic) {
        INGOT_CLIENT_RETURN_IF_ERROR(Value(operand.strides[slot % kMaxAxes],
                                           "a stride", &strides_[slot]));
        continue;
      }
      const int64_t* given = DynamicStrides(index);
      if (given == nullptr && has_operands()) return NoStrides(operand);
      strides_[slot] = given == nullptr ? 0 : given[slot % kMaxAxes];
    }
    return Status();
  }

  const LaunchPlan& plan_;
  const ArgumentOrder& order_;
  const ingot_launch_args& args_;
  LaunchValues values_;
  int64_t dims_[kMaxDims];
  int64_t strides_[kMaxOperands * kMaxAxes];
};

}  // namespace ingot::client

#endif  // INGOT_CLIENT_SRC_LAUNCH_FRAME_H_
