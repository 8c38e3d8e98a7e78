#include "server/wire.h"

#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;

TEST(Wire, SpecsOfEveryOpSurviveTheWay) {
  for (const OpDef* op : AllOps()) {
    for (const Spec& spec : op->samples()) {
      v1::Spec wire;
      SpecToWire(spec, &wire);
      v1::Spec received;
      ASSERT_TRUE(received.ParseFromString(wire.SerializeAsString()));
      const absl::StatusOr<Spec> back = SpecFromWire(received);
      ASSERT_TRUE(back.ok()) << back.status();
      const absl::StatusOr<Spec> expected = Canonicalize(spec);
      const absl::StatusOr<Spec> found = Canonicalize(*back);
      ASSERT_TRUE(expected.ok() && found.ok());
      EXPECT_EQ(EncodeSpec(*found), EncodeSpec(*expected));
    }
  }
}

TEST(Wire, FieldsOfANewerClientAreRefused) {
  v1::Spec known;
  SpecToWire(AllOps()[0]->samples()[0], &known);
  v1::Attr* attr = known.add_attrs();
  attr->set_name("a");
  attr->set_bool_value(true);
  known.add_tuning()->set_name("t");
  ASSERT_TRUE(SpecFromWire(known).ok());
  constexpr int kLater = 1000;
  const auto refused = [&](auto mutate) {
    v1::Spec wire = known;
    google::protobuf::Message* message = mutate(&wire);
    message->GetReflection()->MutableUnknownFields(message)->AddVarint(kLater,
                                                                       1);
    const absl::Status status = SpecFromWire(wire).status();
    EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("field 1000"));
  };
  refused([](v1::Spec* spec) { return spec; });
  refused([](v1::Spec* spec) { return spec->mutable_dims(0); });
  refused(
      [](v1::Spec* spec) { return spec->mutable_dims(0)->mutable_range(); });
  refused([](v1::Spec* spec) { return spec->mutable_operands(0); });
  refused([](v1::Spec* spec) { return spec->mutable_attrs(0); });
  refused([](v1::Spec* spec) { return spec->mutable_tuning(0); });
}

TEST(Wire, PlansNameTheirKernels) {
  for (const OpDef* op : AllOps()) {
    for (const Spec& spec : op->samples()) {
      const absl::StatusOr<Plan> plan = MakePlan(spec);
      ASSERT_TRUE(plan.ok()) << plan.status();
      v1::Plan wire;
      PlanToWire(*plan, 5, &wire);
      EXPECT_EQ(wire.epoch(), 5u);
      EXPECT_EQ(wire.spec_digest(), plan->spec_digest);
      EXPECT_EQ(wire.fingerprint(), plan->fingerprint);
      ASSERT_EQ(wire.variants_size(), static_cast<int>(plan->variants.size()));
      for (int v = 0; v < wire.variants_size(); ++v) {
        const Recipe& recipe = plan->variants[static_cast<size_t>(v)].recipe;
        ASSERT_EQ(wire.variants(v).recipe().version(), kRecipeVersion);
        ASSERT_EQ(wire.variants(v).recipe().steps_size(),
                  static_cast<int>(recipe.steps.size()));
        for (size_t s = 0; s < recipe.steps.size(); ++s) {
          const auto* launch = std::get_if<LaunchStep>(&recipe.steps[s]);
          if (launch == nullptr) continue;
          const PlanKernel& kernel =
              plan->kernels[static_cast<size_t>(launch->kernel)];
          const v1::Launch& found =
              wire.variants(v).recipe().steps(static_cast<int>(s)).launch();
          EXPECT_EQ(found.key(), kernel.key);
          EXPECT_EQ(found.symbol(), kernel.spec.symbol);
          EXPECT_EQ(found.workgroup_size(), 3);
          EXPECT_EQ(found.grid_size(), 3);
          EXPECT_EQ(found.args_size(),
                    static_cast<int>(kernel.spec.args.size()));
        }
      }
    }
  }
}

TEST(Wire, RefusesWhatAValueCannotHold) {
  v1::Spec wire;
  v1::Operand* operand = wire.add_operands();
  operand->set_name("x");
  operand->set_stride_mode(static_cast<v1::StrideMode>(9));
  absl::Status status = SpecFromWire(wire).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("operands.x.stride_mode: found 9, allowed 0"));
  wire.clear_operands();
  wire.add_attrs()->set_name("act");
  status = SpecFromWire(wire).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("attrs.act"));
}

TEST(Wire, EveryKindOfAttributeKeepsItsKind) {
  Spec spec;
  spec.attrs = {
      {"b", true}, {"f", 0.5}, {"i", int64_t{-3}}, {"s", std::string("nt")}};
  v1::Spec wire;
  SpecToWire(spec, &wire);
  const absl::StatusOr<Spec> back = SpecFromWire(wire);
  ASSERT_TRUE(back.ok());
  for (const Attr& attr : spec.attrs) {
    ASSERT_NE(back->FindAttr(attr.name), nullptr);
    EXPECT_EQ(back->FindAttr(attr.name)->value, attr.value);
  }
}

TEST(Wire, DescriptionsSurviveTheWay) {
  CodeObjectDescription description;
  description.symbol = "k";
  description.target = "gfx950";
  description.args = {{0, 8, "global_buffer"}, {8, 4, "by_value"}};
  description.workgroup = {64, 2, 1};
  description.vgprs = 96;
  description.agprs = 32;
  description.lds_bytes = 65536;
  v1::Description wire;
  DescriptionToWire(description, "gemm", &wire);
  EXPECT_EQ(wire.op(), "gemm");
  EXPECT_THAT(wire.compiler(), HasSubstr("LLVM"));
  const CodeObjectDescription back = DescriptionFromWire(wire);
  EXPECT_EQ(back.symbol, "k");
  EXPECT_EQ(back.args.size(), 2u);
  EXPECT_EQ(back.args[1].offset, 8u);
  EXPECT_EQ(back.workgroup, description.workgroup);
  EXPECT_EQ(back.vgprs, 96u);
  EXPECT_EQ(back.lds_bytes, 65536u);
}

}  // namespace
}  // namespace ingot::server
