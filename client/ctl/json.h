// Messages as JSON: field names as in the .proto, bytes as hexadecimal, enums
// by name, fields at their default left out except in the outermost message.
#ifndef INGOT_CLIENT_CTL_JSON_H_
#define INGOT_CLIENT_CTL_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace ingot::ctl {

std::string ToJson(const google::protobuf::Message& message);

}  // namespace ingot::ctl

#endif  // INGOT_CLIENT_CTL_JSON_H_
