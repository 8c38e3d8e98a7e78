// Messages as JSON: field names as in the .proto, bytes as hexadecimal, enums
// by name, fields at their default left out except in the outermost message.
#ifndef INGOT_CLIENT_CTL_JSON_H_
#define INGOT_CLIENT_CTL_JSON_H_

#include <string>

#include "client/src/json_writer.h"
#include "google/protobuf/message.h"

namespace ingot::ctl {

std::string ToJson(const google::protobuf::Message& message);

// The fields of an outermost message, into an object that `json` has open.
void WriteFields(const google::protobuf::Message& message,
                 client::JsonWriter* json);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_JSON_H_
