#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "client/src/prepared.h"
#include "client/testing/fake_hip.h"
#include "client/testing/plans.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

std::atomic<int64_t> allocations = 0;

}  // namespace

// Counts what C++ allocates in this program.
[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1);
  if (void* memory = malloc(size)) return memory;
  abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  free(memory);
}

namespace ingot::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using E = v1::ExprNode;
using A = v1::Argument;

// y[m, n] from x[m, n]: one dynamic input, one dense output.
v1::Plan BasePlan() {
  v1::Plan plan;
  v1::PlanDim* m = plan.add_dims();
  m->set_name("m");
  m->set_min(0);
  m->set_max(1 << 20);
  v1::PlanDim* n = plan.add_dims();
  n->set_name("n");
  n->set_min(64);
  n->set_max(64);
  v1::PlanOperand* x = plan.add_operands();
  x->set_name("x");
  x->set_dtype("bf16");
  x->set_axes(2);
  x->set_stride_mode(v1::STRIDE_MODE_DYNAMIC);
  v1::PlanOperand* y = plan.add_operands();
  y->set_name("y");
  y->set_dtype("bf16");
  y->set_axes(2);
  *y->add_strides() = DimAt(1);
  *y->add_strides() = Const(1);
  v1::PlanScalar* eps = plan.add_scalars();
  eps->set_name("eps");
  eps->set_dtype("f32");
  eps->set_has_default(true);
  eps->set_default_value(0.5);
  return plan;
}

class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest() {
    fake_hip_reset();
    args_.size = sizeof(args_);
    args_.dims = dims_;
    args_.dim_count = 2;
    args_.operands = operands_;
    args_.operand_count = 2;
    args_.strides = strides_;
  }

  // Every test opens its own, so that device facts are read anew.
  static std::shared_ptr<HipApi> Hip() {
    return std::make_shared<HipApi>(INGOT_FAKE_HIP);
  }

  Status Run(const v1::Plan& plan) {
    return Launch(*Prepare(plan, Hip()), stream_, args_);
  }

  template <typename T>
  static T Kernarg(size_t offset) {
    T value;
    memcpy(&value, fake_hip()->last.kernarg + offset, sizeof(value));
    return value;
  }

  int64_t dims_[2] = {100, 64};
  int64_t x_strides_[2] = {128, 1};
  const int64_t* strides_[2] = {x_strides_, nullptr};
  alignas(256) char x_[512] = {};
  alignas(256) char y_[512] = {};
  alignas(256) char workspace_[512] = {};
  void* operands_[2] = {x_, y_};
  HipStream stream_ = &stream_;
  ingot_launch_args args_ = {};
};

TEST_F(LaunchTest, PacksArgumentsAtTheirOffsets) {
  v1::Plan plan = BasePlan();
  v1::PlanScalar* count = plan.add_scalars();
  count->set_name("count");
  count->set_dtype("i64");
  v1::PlanScalar* small = plan.add_scalars();
  small->set_name("small");
  small->set_dtype("i32");
  v1::Variant* variant = AddVariant(&plan, "only");
  *variant->mutable_recipe()->mutable_workspace_bytes() =
      Op(E::OP_MUL, {DimAt(0), Const(4)});
  v1::Launch* launch =
      AddLaunch(variant, "k", Op(E::OP_CEILDIV, {DimAt(0), Const(16)}));
  launch->set_lds_bytes(96);
  AddArgument(launch, A::KIND_INTEGER, 0, 4, DimAt(0));
  AddArgument(launch, A::KIND_OPERAND, 0, 8, Const(32));
  AddArgument(launch, A::KIND_SCALAR, 0, 4, Const(0));
  AddArgument(launch, A::KIND_INTEGER, 0, 4, StrideAt(0, 0));
  AddArgument(launch, A::KIND_INTEGER, 0, 8, StrideAt(1, 0));
  AddArgument(launch, A::KIND_SCALAR, 1, 8, Const(0));
  AddArgument(launch, A::KIND_SCALAR, 2, 4, Const(0));
  AddArgument(launch, A::KIND_WORKSPACE, 0, 8, Const(256));
  AddArgument(launch, A::KIND_EPOCH, 0, 8, Const(0));
  AddArgument(launch, A::KIND_PEER, 1, 8, Const(0));
  AddArgument(launch, A::KIND_OPERAND, 1, 8, Const(0));
  ingot_scalar scalars[3] = {};
  scalars[0].f = 1e-5;
  scalars[1].i = -5'000'000'000;
  scalars[2].i = -7;
  void* peers[2] = {x_, y_};
  args_.scalars = scalars;
  args_.scalar_count = 3;
  args_.peers = peers;
  args_.peer_count = 2;
  args_.workspace = workspace_;
  args_.workspace_bytes = sizeof(workspace_);
  const auto prepared = Prepare(plan, Hip());
  for (int time = 0; time < 2; ++time) {
    const Status status = Launch(*prepared, stream_, args_);
    ASSERT_TRUE(status.ok()) << status.message;
  }
  const fake_hip_launch& last = fake_hip()->last;
  EXPECT_THAT(last.grid, ElementsAre(7, 1, 1));
  EXPECT_THAT(last.block, ElementsAre(64, 1, 1));
  EXPECT_EQ(last.lds_bytes, 96u);
  EXPECT_EQ(last.stream, stream_);
  EXPECT_EQ(last.kernarg_bytes, 80u);
  EXPECT_EQ(Kernarg<int32_t>(0), 100);
  EXPECT_EQ(Kernarg<int32_t>(4), 0);  // padding
  EXPECT_EQ(Kernarg<char*>(8), x_ + 32);
  EXPECT_EQ(Kernarg<float>(16), 1e-5f);
  EXPECT_EQ(Kernarg<int32_t>(20), 128);
  EXPECT_EQ(Kernarg<int64_t>(24), 64);
  EXPECT_EQ(Kernarg<int64_t>(32), -5'000'000'000);
  EXPECT_EQ(Kernarg<int32_t>(40), -7);
  EXPECT_EQ(Kernarg<char*>(48), workspace_ + 256);
  EXPECT_EQ(Kernarg<int64_t>(56), 2);  // the second launch
  EXPECT_EQ(Kernarg<char*>(64), y_);
  EXPECT_EQ(Kernarg<char*>(72), y_);
}

TEST_F(LaunchTest, AllocatesNothingOnceLoaded) {
  v1::Plan plan = BasePlan();
  v1::Launch* launch = AddLaunch(AddVariant(&plan, "only"), "k", DimAt(0));
  AddArgument(launch, A::KIND_OPERAND, 0, 8, Const(0));
  AddArgument(launch, A::KIND_INTEGER, 0, 4, StrideAt(0, 0));
  AddArgument(launch, A::KIND_SCALAR, 0, 4, Const(0));
  const auto prepared = Prepare(plan, Hip());
  ASSERT_TRUE(Launch(*prepared, stream_, args_).ok());
  const int64_t before = allocations.load();
  for (int i = 0; i < 100; ++i) Launch(*prepared, stream_, args_);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_EQ(fake_hip()->launches, 101);
  EXPECT_EQ(Kernarg<float>(12), 0.5f);  // the default
}

v1::Guard* AddGuard(v1::Variant* variant, int64_t min, int64_t max,
                    int64_t multiple) {
  v1::Guard* guard = variant->add_guards();
  guard->set_min(min);
  guard->set_max(max);
  guard->set_multiple_of(multiple);
  return guard;
}

TEST_F(LaunchTest, TakesTheFirstVariantThatMatches) {
  v1::Plan plan = BasePlan();
  v1::Variant* small = AddVariant(&plan, "small");
  AddGuard(small, 0, 16, 0)->set_dim(0);
  AddLaunch(small, "small", Const(1));
  v1::Variant* aligned = AddVariant(&plan, "aligned");
  AddGuard(aligned, 0, 0, 64)->set_operand_alignment(0);
  AddLaunch(aligned, "aligned", Const(2));
  v1::Variant* strided = AddVariant(&plan, "strided");
  AddGuard(strided, 64, 0, 8)->set_operand_stride(0);
  AddLaunch(strided, "strided", Const(3));
  const auto prepared = Prepare(plan, Hip());
  const auto grid = [&] {
    const Status status = Launch(*prepared, stream_, args_);
    EXPECT_TRUE(status.ok()) << status.message;
    return fake_hip()->last.grid[0];
  };
  dims_[0] = 16;
  EXPECT_EQ(grid(), 1u);
  dims_[0] = 17;
  EXPECT_EQ(grid(), 2u);
  operands_[0] = x_ + 32;
  EXPECT_EQ(grid(), 3u);
  x_strides_[0] = 129;
  const Status none = Launch(*prepared, stream_, args_);
  EXPECT_EQ(none.code, INGOT_INVALID_ARGUMENT);
  EXPECT_THAT(none.message,
              HasSubstr("stride 0 of operand x: found 129, allowed 64"));
}

TEST_F(LaunchTest, RefusesArgumentsByName) {
  v1::Plan plan = BasePlan();
  v1::PlanScalar* count = plan.add_scalars();
  count->set_name("count");
  count->set_dtype("i32");
  v1::Variant* variant = AddVariant(&plan, "only");
  *variant->mutable_recipe()->mutable_workspace_bytes() = Const(512);
  v1::Launch* launch = AddLaunch(variant, "k", DimAt(0));
  AddArgument(launch, A::KIND_OPERAND, 1, 8, Const(0));
  AddArgument(launch, A::KIND_INTEGER, 0, 4, StrideAt(0, 0));
  AddArgument(launch, A::KIND_SCALAR, 1, 4, Const(0));
  const auto prepared = Prepare(plan, Hip());
  ingot_scalar scalars[2] = {};
  args_.scalars = scalars;
  args_.scalar_count = 2;
  args_.workspace = workspace_;
  args_.workspace_bytes = 512;
  ASSERT_TRUE(Launch(*prepared, stream_, args_).ok());
  const auto refused = [&](const ingot_launch_args& args, const char* text) {
    const Status status = Launch(*prepared, stream_, args);
    EXPECT_EQ(status.code, INGOT_INVALID_ARGUMENT) << text;
    EXPECT_THAT(status.message, HasSubstr(text));
  };
  ingot_launch_args bad = args_;
  bad.dim_count = 1;
  refused(bad, "dims: found 1, allowed 2");
  bad = args_;
  bad.dims = nullptr;
  refused(bad, "dims: found 2 at NULL");
  const int64_t wrong_n[2] = {100, 65};
  bad = args_;
  bad.dims = wrong_n;
  refused(bad, "dim n: found 65, allowed 64 to 64");
  const int64_t negative[2] = {-1, 64};
  bad.dims = negative;
  refused(bad, "dim m: found -1");
  bad = args_;
  bad.operands = nullptr;
  refused(bad, "operands: found NULL");
  bad = args_;
  bad.operand_count = 3;
  refused(bad, "operands: found 3, allowed 2");
  void* const null_y[2] = {x_, nullptr};
  bad = args_;
  bad.operands = null_y;
  refused(bad, "operand y: found NULL");
  bad = args_;
  bad.strides = nullptr;
  refused(bad, "strides of operand x: found NULL");
  bad = args_;
  bad.workspace_bytes = 511;
  refused(bad, "workspace: found 511 bytes");
  bad = args_;
  bad.workspace = workspace_ + 16;
  refused(bad, "aligned to 256");
  bad = args_;
  bad.scalar_count = 1;
  refused(bad, "scalar count: found none");
  scalars[1].i = int64_t{1} << 31;
  refused(args_, "scalar count: found 2147483648");
}

TEST_F(LaunchTest, EmptyGridsLaunchNothing) {
  v1::Plan plan = BasePlan();
  v1::Launch* launch = AddLaunch(AddVariant(&plan, "only"), "k", DimAt(0));
  AddArgument(launch, A::KIND_OPERAND, 0, 8, Const(0));
  dims_[0] = 0;
  operands_[0] = nullptr;  // what frameworks give for empty tensors
  const Status status = Run(plan);
  EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(fake_hip()->launches, 0);
}

TEST_F(LaunchTest, GridsBeyond32BitsAreOutOfRange) {
  for (const int64_t groups :
       {int64_t{1} << 26, int64_t{1} << 32, INT64_MAX, int64_t{-1}}) {
    v1::Plan plan = BasePlan();
    AddLaunch(AddVariant(&plan, "only"), "k", Const(groups));
    EXPECT_EQ(Run(plan).code, INGOT_OUT_OF_RANGE) << groups;
  }
  v1::Plan largest = BasePlan();
  AddLaunch(AddVariant(&largest, "only"), "k", Const((1 << 26) - 1));
  EXPECT_TRUE(Run(largest).ok());
}

TEST_F(LaunchTest, OverflowAndDivisionByZeroAreOutOfRange) {
  v1::Plan plan = BasePlan();
  v1::Launch* launch = AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  AddArgument(launch, A::KIND_INTEGER, 0, 8,
              Op(E::OP_MUL, {DimAt(0), Const(INT64_MAX)}));
  EXPECT_EQ(Run(plan).code, INGOT_OUT_OF_RANGE);
  *launch->mutable_args(0)->mutable_offset() =
      Op(E::OP_FLOORDIV, {Const(1), Op(E::OP_SUB, {DimAt(0), DimAt(0)})});
  EXPECT_EQ(Run(plan).code, INGOT_OUT_OF_RANGE);
  launch->mutable_args(0)->set_size(4);
  *launch->mutable_args(0)->mutable_offset() =
      Op(E::OP_ADD, {DimAt(0), Const(int64_t{1} << 32)});
  EXPECT_EQ(Run(plan).code, INGOT_OUT_OF_RANGE);
  EXPECT_EQ(fake_hip()->launches, 0);
}

TEST_F(LaunchTest, FillsGoWhereTheyShould) {
  v1::Plan plan = BasePlan();
  v1::Variant* variant = AddVariant(&plan, "only");
  *variant->mutable_recipe()->mutable_workspace_bytes() = Const(512);
  v1::Fill* fill = variant->mutable_recipe()->add_steps()->mutable_fill();
  fill->set_workspace(true);
  fill->set_value(0xffffffff);
  *fill->mutable_offset() = Const(256);
  *fill->mutable_bytes() = Const(128);
  args_.workspace = workspace_;
  args_.workspace_bytes = 512;
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(fake_hip()->fill_pointer, workspace_ + 256);
  EXPECT_EQ(fake_hip()->fill_count, 32u);
  EXPECT_EQ(fake_hip()->fill_value, -1);
  *fill->mutable_bytes() = Const(512);  // beyond the workspace
  EXPECT_EQ(Run(plan).code, INGOT_INTERNAL);
  fill->set_workspace(false);
  fill->set_operand(1);
  *fill->mutable_offset() = Const(0);
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(fake_hip()->fill_pointer, y_);
}

TEST_F(LaunchTest, CooperativeKernelsTakeTheirOwnCall) {
  v1::Plan plan = BasePlan();
  v1::Launch* launch = AddLaunch(AddVariant(&plan, "only"), "k", Const(4));
  launch->set_cooperative(true);
  AddArgument(launch, A::KIND_OPERAND, 1, 8, Const(8));
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(fake_hip()->last.cooperative, 1);
  EXPECT_EQ(Kernarg<char*>(0), y_ + 8);
}

TEST_F(LaunchTest, KernelsThatWereNotFetchedSaySo) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "lacking", Const(1));
  auto prepared = Prepare(plan, Hip());
  FetchedPlan fetched = *prepared->fetched;
  fetched.objects[0] = nullptr;
  prepared->fetched = std::make_shared<FetchedPlan>(std::move(fetched));
  const Status status = Launch(*prepared, stream_, args_);
  EXPECT_EQ(status.code, INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(status.message, HasSubstr("kernel lacking was not fetched"));
}

TEST_F(LaunchTest, OtherTargetsAreRefusedBeforeLoading) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  const struct {
    const char* device;
    const char* code;
    bool fits;
  } cases[] = {{"gfx950:sramecc+:xnack-", "gfx950", true},
               {"gfx950:sramecc+:xnack-", "gfx950:sramecc+:xnack-", true},
               {"gfx950:sramecc+:xnack-", "gfx950:xnack-", true},
               {"gfx950:sramecc+:xnack-", "gfx950:xnack+", false},
               {"gfx950:sramecc+:xnack-", "gfx950:sramecc-", false},
               {"gfx942:sramecc+:xnack-", "gfx950", false},
               {"gfx9500", "gfx950", false}};
  for (const auto& expected : cases) {
    fake_hip_reset();
    fake_hip()->target = expected.device;
    const Status status =
        Launch(*Prepare(plan, Hip(), expected.code), stream_, args_);
    EXPECT_EQ(status.code, expected.fits ? INGOT_OK : INGOT_FAILED_PRECONDITION)
        << expected.device << " " << expected.code << ": " << status.message;
    EXPECT_EQ(fake_hip()->loads, expected.fits ? 1 : 0);
    if (!expected.fits) {
      EXPECT_THAT(status.message, HasSubstr(expected.device));
    }
  }
}

TEST_F(LaunchTest, LoadsOncePerDeviceWhateverTheThreads) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  const auto prepared = Prepare(plan, Hip());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      fake_hip_set_device(t % 2);
      for (int i = 0; i < 100; ++i) {
        if (Launch(*prepared, nullptr, args_).ok()) good.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 800);
  EXPECT_EQ(fake_hip()->loads, 2);
  EXPECT_EQ(fake_hip()->loads_outside_relaxed_mode, 0);
}

TEST_F(LaunchTest, UnloadsWithTheLastUser) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(fake_hip()->unloads, 1);
}

TEST_F(LaunchTest, HipsErrorsComeWithTheirText) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  fake_hip()->load_error = 98;
  Status status = Run(plan);
  EXPECT_EQ(status.code, INGOT_INTERNAL);
  EXPECT_EQ(status.message, "hipModuleLoadData: invalid device function (98)");
  fake_hip()->load_error = 0;
  fake_hip()->launch_error = 1;
  status = Run(plan);
  EXPECT_THAT(status.message, HasSubstr("hipModuleLaunchKernel"));
  v1::Plan nameless = BasePlan();
  AddLaunch(AddVariant(&nameless, "only"), "missing", Const(1));
  fake_hip_reset();
  status = Run(nameless);
  EXPECT_THAT(status.message, HasSubstr("hipModuleGetFunction"));
  EXPECT_EQ(fake_hip()->unloads, 1);
}

TEST_F(LaunchTest, NoDeviceIsAPrecondition) {
  v1::Plan plan = BasePlan();
  AddLaunch(AddVariant(&plan, "only"), "k", Const(1));
  for (const int error : {100, 101}) {
    fake_hip()->init_error = error;
    EXPECT_EQ(Run(plan).code, INGOT_FAILED_PRECONDITION);
  }
  fake_hip()->init_error = 3;
  EXPECT_EQ(Run(plan).code, INGOT_INTERNAL);
  fake_hip_reset();
  fake_hip()->device_count = 0;
  EXPECT_EQ(Run(plan).code, INGOT_FAILED_PRECONDITION);
  const Status status =
      Launch(*Prepare(plan, std::make_shared<HipApi>("/nowhere/libhip.so")),
             nullptr, args_);
  EXPECT_EQ(status.code, INGOT_FAILED_PRECONDITION);
  EXPECT_THAT(status.message, HasSubstr("/nowhere/libhip.so"));
}

TEST_F(LaunchTest, WorkspaceIsTheLargestOfWhatMayMatch) {
  v1::Plan plan = BasePlan();
  v1::Variant* aligned = AddVariant(&plan, "aligned");
  AddGuard(aligned, 0, 0, 64)->set_operand_alignment(0);
  *aligned->mutable_recipe()->mutable_workspace_bytes() =
      Op(E::OP_MUL, {DimAt(0), Const(8)});
  v1::Variant* other = AddVariant(&plan, "other");
  *other->mutable_recipe()->mutable_workspace_bytes() =
      Op(E::OP_MUL, {DimAt(0), Const(64)});
  other->mutable_recipe()->set_workspace_kept(true);
  const auto prepared = Prepare(plan, Hip());
  uint64_t bytes = 0;
  bool kept = false;
  ASSERT_TRUE(WorkspaceBytes(*prepared, args_, &bytes, &kept).ok());
  EXPECT_EQ(bytes, 800u);
  EXPECT_FALSE(kept);
  args_.operands = nullptr;
  args_.strides = nullptr;
  ASSERT_TRUE(WorkspaceBytes(*prepared, args_, &bytes, &kept).ok());
  EXPECT_EQ(bytes, 6400u);
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace ingot::client
