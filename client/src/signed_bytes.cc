#include "client/src/signed_bytes.h"

#include <cstdint>

#include "client/src/wire_scan.h"

namespace ingot::client {
namespace {

// Field numbers of record.proto and plan.proto.
enum RecordField : uint32_t {
  kRecordSchema = 1,
  kRecordKey = 2,
  kRecordDigest = 3,
  kRecordDescription = 5,
  kRecordSignatures = 8
};
constexpr uint32_t kDescriptionTarget = 2;
enum PlanField : uint32_t {
  kPlanSchema = 1,
  kPlanSpecDigest = 2,
  kPlanEpoch = 4,
  kPlanFingerprint = 5,
  kPlanSignatures = 10
};
constexpr uint32_t kSignatureKeyId = 1;
constexpr uint32_t kSignatureValue = 2;

Status Damaged(const char* what) {
  return Error(INGOT_DATA_LOSS,
               "%s: its signed fields cannot be read, or stand twice", what);
}

void PutU32(std::string* out, uint32_t value) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}

void PutU64(std::string* out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}

void PutBytes(std::string* out, std::string_view bytes) {
  PutU32(out, static_cast<uint32_t>(bytes.size()));
  out->append(bytes);
}

bool PutSignature(std::string_view message,
                  std::vector<Signature>* signatures) {
  Signature signature;
  WireScan scan(message);
  while (scan.Next()) {
    if (!scan.is_bytes()) continue;
    if (scan.field() == kSignatureKeyId) signature.key_id = scan.bytes();
    if (scan.field() == kSignatureValue) signature.value = scan.bytes();
  }
  signatures->push_back(signature);
  return scan.ok() && signatures->size() <= kMaxSignatures;
}

// Fields that may stand once.
class Once {
 public:
  bool TakeBytes(const WireScan& scan, std::string_view* to) {
    *to = scan.bytes();
    return scan.is_bytes() && New(scan.field());
  }
  bool TakeNumber(const WireScan& scan, uint64_t* to) {
    *to = scan.number();
    return scan.is_number() && New(scan.field());
  }

 private:
  bool New(uint32_t field) {  // below 64
    const uint64_t bit = uint64_t{1} << field;
    const bool fresh = (seen_ & bit) == 0;
    seen_ |= bit;
    return fresh;
  }

  uint64_t seen_ = 0;
};

bool ReadTarget(std::string_view description, std::string_view* target) {
  Once once;
  WireScan scan(description);
  while (scan.Next()) {
    if (scan.field() != kDescriptionTarget) continue;
    if (!once.TakeBytes(scan, target)) return false;
  }
  return scan.ok();
}

}  // namespace

Status ReadSignedRecord(std::string_view record, Signed* read) {
  *read = Signed();
  Once once;
  uint64_t schema = 0;
  std::string_view key;
  std::string_view digest;
  std::string_view description;
  std::string_view target;
  bool good = true;
  WireScan scan(record);
  while (good && scan.Next()) {
    switch (scan.field()) {
      case kRecordSchema:
        good = once.TakeNumber(scan, &schema) && schema <= UINT32_MAX;
        break;
      case kRecordKey:
        good = once.TakeBytes(scan, &key);
        break;
      case kRecordDigest:
        good = once.TakeBytes(scan, &digest);
        break;
      case kRecordDescription:
        good = once.TakeBytes(scan, &description);
        break;
      case kRecordSignatures:
        good = scan.is_bytes() && PutSignature(scan.bytes(), &read->signatures);
        break;
    }
  }
  if (!good || !scan.ok() || !ReadTarget(description, &target)) {
    return Damaged("record");
  }
  PutBytes(&read->bytes, "ingot.signature.record");
  PutU32(&read->bytes, static_cast<uint32_t>(schema));
  PutBytes(&read->bytes, key);
  PutBytes(&read->bytes, digest);
  PutBytes(&read->bytes, target);
  PutBytes(&read->bytes, description);
  return Status();
}

Status ReadSignedPlan(std::string_view plan, Signed* read) {
  *read = Signed();
  Once once;
  uint64_t schema = 0;
  uint64_t epoch = 0;
  std::string_view spec_digest;
  std::string_view fingerprint;
  std::string unsigned_plan;
  unsigned_plan.reserve(plan.size());
  bool good = true;
  WireScan scan(plan);
  while (good && scan.Next()) {
    if (scan.field() == kPlanSignatures) {
      good = scan.is_bytes() && PutSignature(scan.bytes(), &read->signatures);
      continue;
    }
    unsigned_plan.append(scan.raw());
    switch (scan.field()) {
      case kPlanSchema:
        good = once.TakeNumber(scan, &schema) && schema <= UINT32_MAX;
        break;
      case kPlanSpecDigest:
        good = once.TakeBytes(scan, &spec_digest);
        break;
      case kPlanEpoch:
        good = once.TakeNumber(scan, &epoch);
        break;
      case kPlanFingerprint:
        good = once.TakeBytes(scan, &fingerprint);
        break;
    }
  }
  if (!good || !scan.ok()) return Damaged("plan");
  PutBytes(&read->bytes, "ingot.signature.plan");
  PutU32(&read->bytes, static_cast<uint32_t>(schema));
  PutBytes(&read->bytes, spec_digest);
  PutBytes(&read->bytes, fingerprint);
  PutU64(&read->bytes, epoch);
  PutBytes(&read->bytes, unsigned_plan);
  return Status();
}

}  // namespace ingot::client
