#include "client/testing/spec_text.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace ingot::client {
namespace {

// Words between single spaces; a word may be empty.
std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

uint32_t StrideMode(const std::string& word) {
  if (word == "static") return INGOT_STRIDES_STATIC;
  if (word == "dynamic") return INGOT_STRIDES_DYNAMIC;
  EXPECT_EQ(word, "dense");
  return INGOT_STRIDES_DENSE;
}

void ReadOperand(const std::vector<std::string>& words, OwnedSpec* spec) {
  std::vector<int64_t> strides;
  for (size_t i = 5; i < words.size(); ++i) {
    strides.push_back(std::stoll(words[i]));
  }
  spec->AddOperand(words[1], words[2], StrideMode(words[3]),
                   static_cast<uint32_t>(std::stoul(words[4])), strides);
}

void ReadAttr(const std::vector<std::string>& words, const std::string& line,
              OwnedSpec* spec) {
  if (words[2] == "bool") return spec->AddBool(words[1], words[3] == "1");
  if (words[2] == "int") return spec->AddInt(words[1], std::stoll(words[3]));
  if (words[2] == "float") {
    const uint64_t bits = std::stoull(words[3], nullptr, 16);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return spec->AddFloat(words[1], value);
  }
  ASSERT_EQ(words[2], "string") << line;
  const size_t skip = strlen("attr ") + words[1].size() + strlen(" string ");
  spec->AddString(words[1], line.size() > skip ? line.substr(skip) : "");
}

void ReadLine(const std::string& line, Vector* vector) {
  const std::vector<std::string> words = Words(line);
  OwnedSpec& spec = vector->spec;
  if (words[0] == "op") {
    spec.SetOp(words[1]);
  } else if (words[0] == "target") {
    spec.SetTarget(line.substr(std::min<size_t>(7, line.size())));
  } else if (words[0] == "dim" && words.size() == 2) {
    spec.AddRange(words[1], 0, 0, 0);
  } else if (words[0] == "dim" && words[2] == "value") {
    spec.AddDim(words[1], std::stoll(words[3]));
  } else if (words[0] == "dim") {
    ASSERT_EQ(words.size(), 6u) << line;
    spec.AddRange(words[1], std::stoll(words[3]), std::stoll(words[4]),
                  std::stoll(words[5]));
  } else if (words[0] == "operand") {
    ReadOperand(words, &spec);
  } else if (words[0] == "attr") {
    ReadAttr(words, line, &spec);
  } else if (words[0] == "tuning") {
    spec.AddTuning(words[1], std::stoll(words[2]));
  } else if (words[0] == "encoding") {
    vector->encoding = words[1];
  } else if (words[0] == "digest") {
    vector->digest = words[1];
  } else {
    ASSERT_EQ(line, "refused");
    vector->refused = true;
  }
}

}  // namespace

const char* OwnedSpec::Keep(const std::string& text) {
  texts_.push_back(text);
  return texts_.back().c_str();
}

void OwnedSpec::AddDim(const std::string& name, int64_t value) {
  ingot_dim dim = {sizeof(dim)};
  dim.kind = INGOT_DIM_VALUE;
  dim.name = Keep(name);
  dim.value = value;
  dims_.push_back(dim);
}

void OwnedSpec::AddRange(const std::string& name, int64_t min, int64_t max,
                         int64_t multiple_of) {
  ingot_dim dim = {sizeof(dim)};
  dim.kind = INGOT_DIM_RANGE;
  dim.name = Keep(name);
  dim.min = min;
  dim.max = max;
  dim.multiple_of = multiple_of;
  dims_.push_back(dim);
}

void OwnedSpec::AddOperand(const std::string& name, const std::string& dtype,
                           uint32_t stride_mode, uint32_t alignment,
                           std::vector<int64_t> strides) {
  strides_.push_back(std::move(strides));
  ingot_operand operand = {sizeof(operand)};
  operand.stride_mode = stride_mode;
  operand.name = Keep(name);
  operand.dtype = Keep(dtype);
  operand.strides = strides_.back().data();
  operand.stride_count = static_cast<uint32_t>(strides_.back().size());
  operand.alignment = alignment;
  operands_.push_back(operand);
}

ingot_attr* OwnedSpec::AddAttr(const std::string& name, uint32_t kind) {
  ingot_attr attr = {sizeof(attr)};
  attr.kind = kind;
  attr.name = Keep(name);
  attrs_.push_back(attr);
  return &attrs_.back();
}

void OwnedSpec::AddBool(const std::string& name, bool value) {
  AddAttr(name, INGOT_ATTR_BOOL)->int_value = value;
}

void OwnedSpec::AddInt(const std::string& name, int64_t value) {
  AddAttr(name, INGOT_ATTR_INT)->int_value = value;
}

void OwnedSpec::AddFloat(const std::string& name, double value) {
  AddAttr(name, INGOT_ATTR_FLOAT)->float_value = value;
}

void OwnedSpec::AddString(const std::string& name, const std::string& value) {
  AddAttr(name, INGOT_ATTR_STRING)->string_value = Keep(value);
}

void OwnedSpec::AddTuning(const std::string& name, int64_t value) {
  ingot_tuning tuning = {sizeof(tuning)};
  tuning.name = Keep(name);
  tuning.value = value;
  tuning_.push_back(tuning);
}

const ingot_spec* OwnedSpec::spec() {
  spec_.size = sizeof(spec_);
  spec_.op = op_.c_str();
  spec_.target = target_.c_str();
  spec_.dims = dims_.data();
  spec_.operands = operands_.data();
  spec_.attrs = attrs_.data();
  spec_.tuning = tuning_.data();
  spec_.dim_count = static_cast<uint32_t>(dims_.size());
  spec_.operand_count = static_cast<uint32_t>(operands_.size());
  spec_.attr_count = static_cast<uint32_t>(attrs_.size());
  spec_.tuning_count = static_cast<uint32_t>(tuning_.size());
  return &spec_;
}

Vector ReadVector(const std::string& path) {
  Vector vector;
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line[0] == '#') continue;
    ReadLine(line, &vector);
  }
  return vector;
}

}  // namespace ingot::client
