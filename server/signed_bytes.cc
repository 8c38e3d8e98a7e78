#include "server/signed_bytes.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "ingot/v1/plan.pb.h"
#include "ingot/v1/record.pb.h"
#include "server/plan_key.h"
#include "server/wire_fields.h"

namespace ingot::server {
namespace {

void AppendU32(std::string* out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

void AppendU64(std::string* out, uint64_t value) {
  AppendU32(out, static_cast<uint32_t>(value));
  AppendU32(out, static_cast<uint32_t>(value >> 32));
}

void AppendBytes(std::string* out, absl::string_view bytes) {
  AppendU32(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes.data(), bytes.size());
}

absl::Status Damaged(absl::string_view what, absl::string_view why) {
  return absl::DataLossError(absl::StrCat(what, ": ", why));
}

// A field that may stand once at most.
struct Single {
  enum class Type { kBytes, kNumber };
  uint32_t field;
  Type type;
  bool seen = false;
  absl::string_view bytes = {};
  uint64_t number = 0;
};

// Whether the reader's field is `single`, which is then taken.
absl::StatusOr<bool> Take(absl::string_view what, const WireReader& reader,
                          Single* single) {
  if (reader.field() != single->field) return false;
  if (single->seen ||
      reader.is_bytes() != (single->type == Single::Type::kBytes)) {
    return Damaged(what, absl::StrCat("its field ", single->field,
                                      " stands twice or is of another type"));
  }
  single->seen = true;
  single->bytes = reader.bytes();
  single->number = reader.is_bytes() ? 0 : reader.number();
  return true;
}

absl::Status AddSignature(absl::string_view what, absl::string_view message,
                          std::vector<Signature>* signatures) {
  v1::Signature parsed;
  if (!parsed.ParseFromArray(message.data(),
                             static_cast<int>(message.size()))) {
    return Damaged(what, "a signature does not parse");
  }
  if (signatures->size() == kMaxSignatures) {
    return Damaged(
        what, absl::StrCat("found more than ", kMaxSignatures, " signatures"));
  }
  signatures->push_back({parsed.key_id(), parsed.value()});
  return absl::OkStatus();
}

// Walks `message`: signatures and singles to their places, and all but the
// signatures, as it stands, to `rest` unless that is null.
absl::Status Walk(absl::string_view what, absl::string_view message,
                  uint32_t signature_field,
                  std::initializer_list<Single*> singles,
                  std::vector<Signature>* signatures, std::string* rest) {
  WireReader reader(message);
  while (reader.Next()) {
    if (signature_field != 0 && reader.field() == signature_field) {
      if (!reader.is_bytes()) return Damaged(what, "a signature is a number");
      INGOT_RETURN_IF_ERROR(AddSignature(what, reader.bytes(), signatures));
      continue;
    }
    if (rest != nullptr) {
      rest->append(reader.raw().data(), reader.raw().size());
    }
    for (Single* single : singles) {
      INGOT_ASSIGN_OR_RETURN(const bool taken, Take(what, reader, single));
      if (taken) break;
    }
  }
  return reader.ok() ? absl::OkStatus() : Damaged(what, "does not parse");
}

// A number that the message's readers take as 32 bits.
absl::Status CheckU32(absl::string_view what, const Single& single) {
  if (single.number <= UINT32_MAX) return absl::OkStatus();
  return Damaged(what,
                 absl::StrCat("its field ", single.field, " is too large"));
}

std::string EncodeSignature(const Signature& signature) {
  std::string encoded;
  AppendField(&encoded, v1::Signature::kKeyIdFieldNumber, signature.key_id);
  AppendField(&encoded, v1::Signature::kValueFieldNumber, signature.value);
  return encoded;
}

}  // namespace

absl::StatusOr<Signed> ReadSignedRecord(absl::string_view record) {
  using Type = Single::Type;
  constexpr absl::string_view kWhat = "record";
  Single schema{v1::Record::kSchemaFieldNumber, Type::kNumber};
  Single key{v1::Record::kKeyFieldNumber, Type::kBytes};
  Single digest{v1::Record::kDigestFieldNumber, Type::kBytes};
  Single description{v1::Record::kDescriptionFieldNumber, Type::kBytes};
  Single target{v1::Description::kTargetFieldNumber, Type::kBytes};
  Signed read;
  INGOT_RETURN_IF_ERROR(Walk(kWhat, record, v1::Record::kSignaturesFieldNumber,
                             {&schema, &key, &digest, &description},
                             &read.signatures, nullptr));
  INGOT_RETURN_IF_ERROR(CheckU32(kWhat, schema));
  INGOT_RETURN_IF_ERROR(Walk("record: description", description.bytes, 0,
                             {&target}, nullptr, nullptr));
  read.key = std::string(key.bytes);
  AppendBytes(&read.bytes, "ingot.signature.record");
  AppendU32(&read.bytes, static_cast<uint32_t>(schema.number));
  AppendBytes(&read.bytes, key.bytes);
  AppendBytes(&read.bytes, digest.bytes);
  AppendBytes(&read.bytes, target.bytes);
  AppendBytes(&read.bytes, description.bytes);
  return read;
}

absl::StatusOr<Signed> ReadSignedPlan(absl::string_view plan) {
  using Type = Single::Type;
  constexpr absl::string_view kWhat = "plan";
  Single schema{v1::Plan::kSchemaFieldNumber, Type::kNumber};
  Single spec{v1::Plan::kSpecDigestFieldNumber, Type::kBytes};
  Single epoch{v1::Plan::kEpochFieldNumber, Type::kNumber};
  Single fingerprint{v1::Plan::kFingerprintFieldNumber, Type::kBytes};
  Signed read;
  std::string rest;
  rest.reserve(plan.size());
  INGOT_RETURN_IF_ERROR(Walk(kWhat, plan, v1::Plan::kSignaturesFieldNumber,
                             {&schema, &spec, &epoch, &fingerprint},
                             &read.signatures, &rest));
  INGOT_RETURN_IF_ERROR(CheckU32(kWhat, schema));
  read.key = PlanKey(spec.bytes, fingerprint.bytes, epoch.number);
  AppendBytes(&read.bytes, "ingot.signature.plan");
  AppendU32(&read.bytes, static_cast<uint32_t>(schema.number));
  AppendBytes(&read.bytes, spec.bytes);
  AppendBytes(&read.bytes, fingerprint.bytes);
  AppendU64(&read.bytes, epoch.number);
  AppendBytes(&read.bytes, rest);
  return read;
}

bool SamePlan(absl::string_view a, absl::string_view b) {
  const absl::StatusOr<Signed> first = ReadSignedPlan(a);
  const absl::StatusOr<Signed> second = ReadSignedPlan(b);
  return first.ok() && second.ok() && first->bytes == second->bytes;
}

void AppendRecordSignature(const Signature& signature, std::string* record) {
  AppendField(record, v1::Record::kSignaturesFieldNumber,
              EncodeSignature(signature));
}

void AppendPlanSignature(const Signature& signature, std::string* plan) {
  AppendField(plan, v1::Plan::kSignaturesFieldNumber,
              EncodeSignature(signature));
}

}  // namespace ingot::server
