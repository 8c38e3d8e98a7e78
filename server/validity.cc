#include "server/validity.h"

#include <utility>

#include "compiler/code_object.h"
#include "compiler/sha256.h"
#include "server/record_fields.h"
#include "server/wire.h"

namespace ingot::server {
namespace {

// The record's own consistency; fills `spec` from its key encoding.
absl::Status CheckRecord(absl::string_view key, absl::string_view bytes,
                         v1::Record* record, KernelSpec* spec) {
  if (!record->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("record: does not parse");
  }
  if (record->schema() > kRecordSchema) {
    return absl::DataLossError(absl::StrCat("record: found schema ",
                                            record->schema(), ", allowed ",
                                            kRecordSchema));
  }
  if (key != absl::string_view(record->key()) ||
      KernelKey(record->key_encoding()) != record->key()) {
    return absl::DataLossError("record: its key encoding is of another key");
  }
  // A hit looks at the bytes alone (groups, say, no record of ours has); what
  // the parser sees and it does not would never be one.
  if (RecordKeyEncoding(bytes) != record->key_encoding()) {
    return absl::DataLossError("record: its bytes can be read in two ways");
  }
  absl::StatusOr<KernelSpec> decoded = DecodeKernelSpec(record->key_encoding());
  if (!decoded.ok()) {
    return absl::DataLossError(
        absl::StrCat("record: key encoding: ", decoded.status().message()));
  }
  *spec = *std::move(decoded);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Record> MakeRecord(absl::string_view key,
                                      absl::string_view key_encoding,
                                      absl::string_view digest,
                                      absl::string_view object,
                                      int64_t created_unix_ms) {
  INGOT_ASSIGN_OR_RETURN(const KernelSpec spec, DecodeKernelSpec(key_encoding));
  INGOT_ASSIGN_OR_RETURN(const CodeObjectDescription description,
                         DescribeCodeObject(object));
  INGOT_RETURN_IF_ERROR(CheckContract(description, spec));
  v1::Record record;
  record.set_schema(kRecordSchema);
  record.set_key(std::string(key));
  record.set_digest(std::string(digest));
  record.set_size(object.size());
  DescriptionToWire(description, spec.op, record.mutable_description());
  record.set_key_encoding(std::string(key_encoding));
  record.set_fingerprint(spec.fingerprint);
  record.set_created_unix_ms(created_unix_ms);
  return record;
}

absl::Status CheckStored(absl::string_view key, absl::string_view record_bytes,
                         absl::string_view digest, absl::string_view object) {
  v1::Record record;
  KernelSpec spec;
  INGOT_RETURN_IF_ERROR(CheckRecord(key, record_bytes, &record, &spec));
  if (digest != absl::string_view(record.digest()) ||
      object.size() != record.size()) {
    return absl::DataLossError("object: it is not the one of the record");
  }
  const absl::StatusOr<CodeObjectDescription> description =
      DescribeCodeObject(object);
  INGOT_RETURN_IF_ERROR(Annotate(description.status(), "object"));
  const absl::Status contract = CheckContract(*description, spec);
  if (!contract.ok()) {
    return absl::DataLossError(absl::StrCat("object: ", contract.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckStoredRecord(absl::string_view key,
                               absl::string_view record_bytes) {
  v1::Record record;
  KernelSpec spec;
  return CheckRecord(key, record_bytes, &record, &spec);
}

}  // namespace ingot::server
