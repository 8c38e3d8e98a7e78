#include "client/ctl/json.h"

#include <vector>

#include "client/src/status.h"
#include "google/protobuf/descriptor.h"

namespace ingot::ctl {
namespace {

using client::JsonWriter;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void WriteMessage(const char* name, const Message& message, JsonWriter* json);

// One value: of a singular field with `index` -1, else of a repeated one.
void WriteValue(const char* name, const Message& message,
                const FieldDescriptor& field, int index, JsonWriter* json) {
  const Reflection& r = *message.GetReflection();
  const bool one = index < 0;
#define INGOT_GET(Type)               \
  (one ? r.Get##Type(message, &field) \
       : r.GetRepeated##Type(message, &field, index))
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return json->Integer(name, INGOT_GET(Int32));
    case FieldDescriptor::CPPTYPE_INT64:
      return json->Integer(name, INGOT_GET(Int64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return json->Number(name, uint64_t{INGOT_GET(UInt32)});
    case FieldDescriptor::CPPTYPE_UINT64:
      return json->Number(name, uint64_t{INGOT_GET(UInt64)});
    case FieldDescriptor::CPPTYPE_FLOAT:
      return json->Number(name, double{INGOT_GET(Float)});
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return json->Number(name, INGOT_GET(Double));
    case FieldDescriptor::CPPTYPE_BOOL:
      return json->Bool(name, INGOT_GET(Bool));
    case FieldDescriptor::CPPTYPE_ENUM:
      return json->String(name, INGOT_GET(Enum)->name());
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = INGOT_GET(String);
      const bool raw = field.type() == FieldDescriptor::TYPE_BYTES;
      return json->String(name, raw ? client::Hex(text) : text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return WriteMessage(name, INGOT_GET(Message), json);
  }
#undef INGOT_GET
}

// With `defaults` also fields that have their default.
void WriteAllFields(const Message& message, bool defaults, JsonWriter* json) {
  const Reflection& r = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    const char* key = field.name().c_str();
    if (field.is_repeated()) {
      const int size = r.FieldSize(message, &field);
      if (size == 0 && !defaults) continue;
      json->OpenArray(key);
      for (int k = 0; k < size; ++k) {
        WriteValue(nullptr, message, field, k, json);
      }
      json->CloseArray();
      continue;
    }
    const bool plain = !field.has_presence();
    if (r.HasField(message, &field) || (defaults && plain)) {
      WriteValue(key, message, field, -1, json);
    }
  }
}

void WriteMessage(const char* name, const Message& message, JsonWriter* json) {
  json->OpenObject(name);
  WriteAllFields(message, false, json);
  json->CloseObject();
}

}  // namespace

std::string ToJson(const Message& message) {
  JsonWriter json;
  json.OpenObject();
  WriteFields(message, &json);
  json.CloseObject();
  return json.text();
}

void WriteFields(const Message& message, JsonWriter* json) {
  WriteAllFields(message, true, json);
}

}  // namespace ingot::ctl
