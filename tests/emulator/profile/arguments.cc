#include "tests/emulator/profile/arguments.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <type_traits>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/support/number.h"

namespace ingot::profile {
namespace {

absl::Status Refuse(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("argument: found \"", text, "\", allowed ", kArgumentForms));
}

// Numbers of the pattern that random memory repeats; odd, so that rows of a
// matrix differ.
constexpr size_t kPattern = (1 << 16) + 1;

void FillRandom(const testing::Format& format, void* memory, uint64_t bytes) {
  const size_t size = static_cast<size_t>(format.bytes);
  std::string pattern(kPattern * size, '\0');
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (size_t n = 0; n < kPattern; ++n) {
    testing::Encode(format, normal(random), &pattern[n * size]);
  }
  char* const to = static_cast<char*>(memory);
  for (uint64_t at = 0; at < bytes; at += pattern.size()) {
    std::memcpy(to + at, pattern.data(),
                std::min<uint64_t>(pattern.size(), bytes - at));
  }
}

absl::Status FillFromFile(const std::string& path, void* memory,
                          uint64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrCat("file=", path, ": cannot be read"));
  }
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  if (data.size() > bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("file=", path, ": found ", data.size(),
                     " bytes, allowed at most the argument's ", bytes));
  }
  std::memset(memory, 0, bytes);
  std::memcpy(memory, data.data(), data.size());
  return absl::OkStatus();
}

template <typename T>
std::string BytesOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The bytes of an integer when it fits T.
template <typename T>
bool IntegerBytes(absl::string_view text, std::string* bytes) {
  std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t> value = 0;
  if (!absl::SimpleAtoi(text, &value)) return false;
  if (value != static_cast<T>(value)) return false;
  *bytes = BytesOf(static_cast<T>(value));
  return true;
}

bool FloatBytes(absl::string_view type, absl::string_view text,
                std::string* bytes) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value)) return false;
  if (type == "f64") {
    *bytes = BytesOf(value);
    return true;
  }
  const testing::Format format = testing::FormatOf(type);
  bytes->resize(static_cast<size_t>(format.bytes));
  testing::Encode(format, value, bytes->data());
  return true;
}

bool HexBytes(absl::string_view text, std::string* bytes) {
  const auto hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (text.empty() || text.size() % 2 != 0 ||
      !std::all_of(text.begin(), text.end(), hex)) {
    return false;
  }
  *bytes = absl::HexStringToBytes(text);
  return true;
}

bool ValueBytes(absl::string_view type, absl::string_view text,
                std::string* bytes) {
  if (type == "i8") return IntegerBytes<int8_t>(text, bytes);
  if (type == "i16") return IntegerBytes<int16_t>(text, bytes);
  if (type == "i32") return IntegerBytes<int32_t>(text, bytes);
  if (type == "i64") return IntegerBytes<int64_t>(text, bytes);
  if (type == "u8") return IntegerBytes<uint8_t>(text, bytes);
  if (type == "u16") return IntegerBytes<uint16_t>(text, bytes);
  if (type == "u32") return IntegerBytes<uint32_t>(text, bytes);
  if (type == "u64") return IntegerBytes<uint64_t>(text, bytes);
  if (type == "f16" || type == "bf16" || type == "f32" || type == "f64") {
    return FloatBytes(type, text, bytes);
  }
  return type == "hex" && HexBytes(text, bytes);
}

// "4096", "64K", "1M", "2G".
bool ParseSize(absl::string_view text, uint64_t* bytes) {
  uint64_t unit = 1;
  if (!text.empty()) {
    const size_t suffix = std::string("KMG").find(text.back());
    if (suffix != std::string::npos) {
      unit = uint64_t{1024} << (10 * suffix);
      text.remove_suffix(1);
    }
  }
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (!absl::SimpleAtoi(text, bytes) || *bytes == 0 || *bytes > kMost / unit) {
    return false;
  }
  *bytes *= unit;
  return true;
}

bool IsFill(absl::string_view fill) {
  for (const char* known :
       {"zero", "random-bf16", "random-f16", "random-f32", "iota-i32"}) {
    if (fill == known) return true;
  }
  return absl::StartsWith(fill, "file=");
}

using google::protobuf::Value;

// A number or text of a JSON object, as text; empty when it is neither.
std::string TextOf(const Value& value) {
  if (value.kind_case() == Value::kStringValue) return value.string_value();
  if (value.kind_case() != Value::kNumberValue) return "";
  const double number = value.number_value();
  if (number == static_cast<double>(static_cast<int64_t>(number))) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  return absl::StrCat(number);
}

absl::StatusOr<Argument> FromObject(const google::protobuf::Struct& object) {
  std::string type, value, bytes, fill, offset;
  const struct {
    const char* name;
    std::string* to;
  } fields[] = {{"type", &type},
                {"value", &value},
                {"bytes", &bytes},
                {"fill", &fill},
                {"offset", &offset}};
  for (const auto& [name, found] : object.fields()) {
    const auto* field =
        std::find_if(std::begin(fields), std::end(fields),
                     [&](const auto& f) { return name == f.name; });
    if (field == std::end(fields)) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument: found \"", name,
                       "\", allowed type, value, bytes, fill, offset"));
    }
    *field->to = TextOf(found);
  }
  const bool pointer = type == "ptr";
  if (pointer == bytes.empty() || pointer != value.empty() ||
      (!pointer && !(fill + offset).empty())) {
    return absl::InvalidArgumentError(
        "argument: allowed are type and bytes, perhaps fill and offset, for "
        "ptr, and type and value for the others");
  }
  std::string text = absl::StrCat(type, ":", pointer ? bytes : value);
  if (!fill.empty()) absl::StrAppend(&text, ":", fill);
  INGOT_ASSIGN_OR_RETURN(Argument argument, ParseArgument(text));
  if (!offset.empty() && (!absl::SimpleAtoi(offset, &argument.offset) ||
                          argument.offset > argument.bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("argument: offset ", offset, ", allowed 0 to bytes"));
  }
  return argument;
}

// Where argument `index` goes and how large it may be.
struct Place {
  size_t offset, bytes;
};

std::vector<Place> PlacesOf(const emulator::KernelInfo& kernel) {
  std::vector<Place> places;
  for (const emulator::KernelArg& arg : kernel.args) {
    if (!arg.hidden()) places.push_back({arg.offset, arg.size});
  }
  return places;
}

}  // namespace

absl::StatusOr<Argument> ParseArgument(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) return Refuse(text);
  const absl::string_view type = text.substr(0, colon);
  absl::string_view rest = text.substr(colon + 1);
  Argument argument;
  if (type != "ptr") {
    if (!ValueBytes(type, rest, &argument.value)) return Refuse(text);
    return argument;
  }
  const size_t second = rest.find(':');
  argument.fill = "zero";
  if (second != absl::string_view::npos) {
    argument.fill = std::string(rest.substr(second + 1));
    rest = rest.substr(0, second);
  }
  if (!ParseSize(rest, &argument.bytes) || !IsFill(argument.fill)) {
    return Refuse(text);
  }
  return argument;
}

absl::StatusOr<std::vector<Argument>> ParseArgumentsJson(
    const std::string& text) {
  Value root;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &root);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("arguments: not JSON: ", std::string(status.message())));
  }
  if (root.kind_case() != Value::kListValue) {
    return absl::InvalidArgumentError(
        "arguments: allowed is a JSON array of objects");
  }
  std::vector<Argument> arguments;
  for (const Value& one : root.list_value().values()) {
    INGOT_ASSIGN_OR_RETURN(Argument argument, FromObject(one.struct_value()));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

absl::Status Fill(absl::string_view fill, void* memory, uint64_t bytes) {
  if (fill == "zero") {
    std::memset(memory, 0, bytes);
  } else if (fill == "iota-i32") {
    for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
      const uint32_t value = static_cast<uint32_t>(at / 4);
      std::memcpy(static_cast<char*>(memory) + at, &value, 4);
    }
  } else if (absl::ConsumePrefix(&fill, "random-")) {
    FillRandom(testing::FormatOf(fill), memory, bytes);
  } else if (absl::ConsumePrefix(&fill, "file=")) {
    return FillFromFile(std::string(fill), memory, bytes);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LayOut(const std::vector<Argument>& arguments,
                                   const emulator::KernelInfo& kernel,
                                   emulator::Device& device) {
  const std::vector<Place> places = PlacesOf(kernel);
  if (kernel.has_metadata && places.size() != arguments.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("arguments of ", kernel.name, ": found ", arguments.size(),
                     ", allowed ", places.size()));
  }
  std::string kernarg;
  for (size_t n = 0; n < arguments.size(); ++n) {
    const Argument& argument = arguments[n];
    std::string value = argument.value;
    if (argument.pointer()) {
      char* memory = static_cast<char*>(device.memory().Allocate(
          argument.bytes, emulator::MemoryMap::Kind::kDevice));
      if (memory == nullptr) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "the host has no ", argument.bytes, " bytes for argument ", n));
      }
      INGOT_RETURN_IF_ERROR(Fill(argument.fill, memory, argument.bytes));
      value = BytesOf(memory + argument.offset);
    }
    size_t offset =
        (kernarg.size() + value.size() - 1) / value.size() * value.size();
    if (kernel.has_metadata) {
      offset = places[n].offset;
      if (places[n].bytes != value.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("argument ", n, " of ", kernel.name, ": found ",
                         value.size(), " bytes, allowed ", places[n].bytes));
      }
    }
    kernarg.resize(std::max(kernarg.size(), offset + value.size()), '\0');
    kernarg.replace(offset, value.size(), value);
  }
  return kernarg;
}

std::vector<Buffer> BuffersOf(const emulator::MemoryMap& memory,
                              absl::string_view kernarg) {
  const std::shared_ptr<const emulator::MemoryView> view = memory.View({});
  std::vector<Buffer> buffers;
  for (size_t at = 0; at + sizeof(uint64_t) <= kernarg.size();
       at += sizeof(uint64_t)) {
    uint64_t pointer = 0;
    std::memcpy(&pointer, kernarg.data() + at, sizeof(pointer));
    const emulator::Interval* found = view->Find(pointer, 1);
    if (found == nullptr) continue;
    if (std::any_of(buffers.begin(), buffers.end(),
                    [&](const Buffer& b) { return b.begin == found->begin; })) {
      continue;
    }
    buffers.push_back({absl::StrCat("pointer at ", at, " of the arguments"),
                       found->begin, found->end - found->begin});
  }
  return buffers;
}

}  // namespace ingot::profile
