#include "tests/emulator/profile/run_op.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/plan.h"
#include "tests/emulator/profile/arguments.h"
#include "tests/emulator/profile/run_file.h"
#include "tests/support/launch.h"

namespace ingot::profile {
namespace {

struct DtypeFill {
  const char* dtype;
  int64_t bytes;  // of an element; extents of what packs several are bytes
  const char* fill;
};
// Random bits of the small formats and of scales would be NaN and huge.
constexpr DtypeFill kDtypes[] = {
    {"bf16", 2, "random-bf16"}, {"f16", 2, "random-f16"},
    {"f32", 4, "random-f32"},   {"i32", 4, "zero"},
    {"i64", 8, "zero"},         {"e4m3fn", 1, "zero"},
    {"e5m2", 1, "zero"},        {"e2m3", 1, "zero"},
    {"e3m2", 1, "zero"},        {"e2m1", 1, "zero"},
    {"e8m0", 1, "zero"}};

absl::StatusOr<DtypeFill> FillOf(const PlanOperand& operand) {
  for (const DtypeFill& known : kDtypes) {
    if (operand.dtype == known.dtype) return known;
  }
  return absl::UnimplementedError(
      absl::StrCat("operand ", operand.name, ": no numbers of ", operand.dtype,
                   " are made here"));
}

// Ends of `groups` groups that share out `rows`.
void FillOffsets(int64_t rows, int64_t groups, bool skewed, void* memory) {
  constexpr double kSkewed[] = {0.62, 1, 1.38};
  const auto share = [&](int64_t g) { return skewed ? kSkewed[g % 3] : 1; };
  double all = 0, sum = 0;
  for (int64_t g = 0; g < groups; ++g) all += share(g);
  int32_t* ends = static_cast<int32_t*>(memory);
  for (int64_t g = 0; g < groups; ++g) {
    sum += share(g);
    ends[g] = static_cast<int32_t>(
        std::llround(static_cast<double>(rows) * sum / all));
  }
}

absl::StatusOr<std::vector<int64_t>> DimsOf(const Plan& plan,
                                            const OpRequest& request) {
  std::vector<int64_t> dims;
  for (const PlanDim& dim : plan.dims) {
    const auto found = request.dims.find(dim.name);
    if (found == request.dims.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "dim ", dim.name, ": found no value, allowed ", dim.name, "=NUMBER"));
    }
    dims.push_back(found->second);
  }
  return dims;
}

// The inputs of one call, their memory and what it is called.
class Inputs {
 public:
  Inputs(const Plan& plan, testing::TestDevice* device)
      : plan_(plan), device_(*device) {}

  absl::Status Make(const OpRequest& request) {
    INGOT_ASSIGN_OR_RETURN(inputs_.dims, DimsOf(plan_, request));
    fill_ = request.fill;
    skewed_ = request.skewed;
    for (const PlanOperand& operand : plan_.operands) {
      INGOT_RETURN_IF_ERROR(AddOperand(operand));
    }
    return absl::OkStatus();
  }

  const testing::LaunchInputs& inputs() const { return inputs_; }

  // Gives the buffers that are operands their names; the others are workspace.
  void Name(std::vector<Buffer>* buffers) const {
    for (Buffer& buffer : *buffers) {
      buffer.name = "workspace";
      for (size_t n = 0; n < inputs_.operands.size(); ++n) {
        if (reinterpret_cast<uint64_t>(inputs_.operands[n]) == buffer.begin) {
          buffer.name = plan_.operands[n].name;
        }
      }
    }
  }

 private:
  // Rows one behind the other unless the plan says how they lie.
  absl::Status AddOperand(const PlanOperand& operand) {
    INGOT_ASSIGN_OR_RETURN(const DtypeFill fill, FillOf(operand));
    const LaunchValues values{inputs_.dims, {}, inputs_.cu_count};
    std::vector<int64_t> strides(operand.extents.size(), 1);
    int64_t dense = 1, elements = 1;
    for (size_t axis = operand.extents.size(); axis-- > 0;) {
      INGOT_ASSIGN_OR_RETURN(const int64_t extent,
                             Evaluate(operand.extents[axis], values));
      strides[axis] = dense;
      if (axis < operand.strides.size()) {
        INGOT_ASSIGN_OR_RETURN(strides[axis],
                               Evaluate(operand.strides[axis], values));
      }
      dense *= extent;
      elements += (extent - 1) * strides[axis];
    }
    const int64_t bytes = elements * fill.bytes;
    char* memory = device_.Allocate<char>(bytes);
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the host has no ", bytes, " bytes for ", operand.name));
    }
    inputs_.operands.push_back(memory);
    inputs_.strides.push_back(std::move(strides));
    if (operand.name == "offs") {
      FillOffsets(Dim("total_m"), elements, skewed_, memory);
      return absl::OkStatus();
    }
    if (!fill_) return absl::OkStatus();
    return Fill(fill.fill, memory, static_cast<uint64_t>(bytes));
  }

  int64_t Dim(const char* name) const {
    for (size_t n = 0; n < plan_.dims.size(); ++n) {
      if (plan_.dims[n].name == name) return inputs_.dims[n];
    }
    return 0;
  }

  const Plan& plan_;
  testing::TestDevice& device_;
  bool fill_ = true;
  bool skewed_ = false;
  testing::LaunchInputs inputs_;
};

}  // namespace

absl::StatusOr<OpProfile> ProfileOp(const OpRequest& request) {
  INGOT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(request.spec));
  testing::TestDevice device(ProfileOptions());
  Inputs inputs(plan, &device);
  INGOT_RETURN_IF_ERROR(inputs.Make(request));
  OpProfile out;
  absl::Status failed;
  device.RunBy([&](emulator::Device& on, const testing::KernelLaunch& launch) {
    ProfileRequest run;
    run.program = launch.program;
    run.kernel = launch.kernel;
    run.config = launch.config;
    run.kernarg = launch.kernarg.data();
    run.kernarg_bytes = launch.kernarg.size();
    run.most_groups = request.most_groups;
    run.one_xcd = request.one_xcd;
    run.buffers = BuffersOf(
        on.memory(),
        absl::string_view(reinterpret_cast<const char*>(launch.kernarg.data()),
                          launch.kernarg.size()));
    inputs.Name(&run.buffers);
    Profile profile;
    emulator::RunResult result =
        RunProfiled(on, run, ProfileOptions(), &profile);
    failed = StatusOf(result);
    if (failed.ok()) out.launches.push_back(std::move(profile));
    return result;
  });
  const absl::StatusOr<testing::LaunchReport> report =
      device.Launch(plan, inputs.inputs());
  INGOT_RETURN_IF_ERROR(failed);
  INGOT_RETURN_IF_ERROR(report.status());
  out.variant = report->variant;
  return out;
}

}  // namespace ingot::profile
