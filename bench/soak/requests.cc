#include "bench/soak/requests.h"

#include <utility>

#include "bench/problems.h"
#include "client/include/ingot/ingot.h"
#include "ingot/v1/kernels.pb.h"
#include "server/wire.h"

namespace ingot::bench {
namespace {

constexpr char kGetKernel[] = "/ingot.v1.Kernels/GetKernel";
constexpr char kGetKernels[] = "/ingot.v1.Kernels/GetKernels";
constexpr char kReadObject[] = "/ingot.v1.Kernels/ReadObject";
constexpr int kBatch = 20;

// Of a thousand calls; the rest are hits.
constexpr uint64_t kColds = 5;
constexpr uint64_t kBatches = 5;
constexpr uint64_t kObjects = 20;
constexpr uint64_t kBads = 70;

v1::GetKernelRequest RequestFor(const Spec& spec, bool omit_bytes) {
  v1::GetKernelRequest request;
  request.set_api_version(1);
  server::SpecToWire(spec, request.mutable_spec());
  request.set_omit_bytes(omit_bytes);
  return request;
}

Ask Single(Kind kind, int problem, bool omit_bytes) {
  return {kind,
          kGetKernel,
          RequestFor(SoakSpec(problem), omit_bytes).SerializeAsString(),
          {problem}};
}

Ask ReadObject(const std::string& digest) {
  v1::ReadObjectRequest request;
  request.set_digest(digest);
  Ask ask{Kind::kObject, kReadObject, request.SerializeAsString()};
  ask.digest = digest;
  return ask;
}

std::string RandomBytes(std::mt19937_64& random) {
  // No message begins with this: field 15 of a type that is not in use.
  std::string bytes(1, '\x7f');
  bytes.resize(1 + random() % 200);
  for (size_t i = 1; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(random());
  }
  return bytes;
}

Ask Bad(std::mt19937_64& random) {
  Ask ask{Kind::kBad, kGetKernel};
  v1::GetKernelRequest request = RequestFor(SoakSpec(0), false);
  ask.refusal = INGOT_INVALID_ARGUMENT;
  switch (random() % 7) {
    case 0:
      ask.request = RandomBytes(random);
      return ask;
    case 1:  // its last field ends behind the message
      ask.request = request.SerializeAsString() + "\x12\x7f";
      return ask;
    case 2:
      request.mutable_spec()->mutable_dims(1)->set_value(0);
      break;
    case 3:
      request.clear_spec();
      break;
    case 4:
      request.mutable_spec()->set_op("conv3d");
      ask.refusal = INGOT_UNIMPLEMENTED;
      break;
    case 5:
      request.mutable_spec()->set_target("gfx942");
      ask.refusal = INGOT_UNIMPLEMENTED;
      break;
    default:
      ask.method = "/ingot.v1.Kernels/NoSuchMethod";
      ask.refusal = INGOT_UNIMPLEMENTED;
  }
  ask.request = request.SerializeAsString();
  return ask;
}

}  // namespace

Spec SoakSpec(int number) {
  constexpr const char* kDtypes[] = {"bf16", "f16", "f32"};
  constexpr int kSmallest = 64;
  Spec spec = RmsnormSpec(kSmallest + number / 3);
  for (auto& operand : spec.operands) operand.dtype = kDtypes[number % 3];
  return spec;
}

Ask Requests::GetKernel(int problem) {
  return Single(Kind::kHit, problem, false);
}

int Requests::AnyKnown(std::mt19937_64& random) const {
  const int among = random() % 5 == 0 ? asked() : hot_;
  return static_cast<int>(random() % static_cast<uint64_t>(among));
}

Ask Requests::Next(std::mt19937_64& random, const std::string& digest) {
  uint64_t lot = random() % 1000;
  const auto drawn = [&lot](uint64_t share) {
    if (lot < share) return true;
    lot -= share;
    return false;
  };
  if (drawn(kColds)) return Single(Kind::kCold, next_.fetch_add(1), false);
  if (drawn(kBads)) return Bad(random);
  if (drawn(kObjects) && !digest.empty()) return ReadObject(digest);
  if (!drawn(kBatches)) {
    return Single(Kind::kHit, AnyKnown(random), random() % 2 == 0);
  }
  Ask ask{Kind::kBatch, kGetKernels};
  v1::GetKernelsRequest batch;
  for (int i = 0; i < kBatch; ++i) {
    ask.problems.push_back(AnyKnown(random));
    *batch.add_requests() = RequestFor(SoakSpec(ask.problems.back()), false);
  }
  ask.request = batch.SerializeAsString();
  return ask;
}

}  // namespace ingot::bench
