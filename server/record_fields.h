// The one record field that every hit looks at, read without parsing.
#ifndef INGOT_SERVER_RECORD_FIELDS_H_
#define INGOT_SERVER_RECORD_FIELDS_H_

#include "absl/strings/string_view.h"
#include "ingot/v1/record.pb.h"
#include "server/wire_fields.h"

namespace ingot::server {

// Record.key_encoding; empty for what is no record.
inline absl::string_view RecordKeyEncoding(absl::string_view record) {
  return FindBytes(record, v1::Record::kKeyEncodingFieldNumber);
}

}  // namespace ingot::server

#endif  // INGOT_SERVER_RECORD_FIELDS_H_
