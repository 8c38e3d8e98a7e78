#include "client/src/spec_key.h"

#include <cstring>

#include "client/src/canonical.h"

namespace ingot::client {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(unsigned char* bytes)
      : at_(bytes), begin_(bytes), end_(bytes + kMaxSpecKeyBytes - 8) {}

  // With its NUL, so that two strings never run together. A loop, because the
  // names are a few characters long and strlen's set-up costs more.
  void String(const char* text) {
    if (text == nullptr) {
      failed_ = true;
      return;
    }
    do {
      if (at_ == end_) {
        failed_ = true;
        return;
      }
      *at_++ = static_cast<unsigned char>(*text);
    } while (*text++ != '\0');
  }

  template <typename T>
  void Value(T value) {
    if (static_cast<size_t>(end_ - at_) < sizeof(value)) {
      failed_ = true;
      return;
    }
    memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }

  // False when something did not fit or was NULL. Pads with zeros.
  bool Finish(size_t* size) {
    if (failed_) return false;
    const size_t used = static_cast<size_t>(at_ - begin_);
    *size = (used + 7) / 8 * 8;
    memset(at_, 0, *size - used);
    return true;
  }

 private:
  unsigned char* at_;
  unsigned char* const begin_;
  unsigned char* const end_;
  bool failed_ = false;
};

// Every bit of every word reaches the result; equality is compared anyway.
uint64_t Hash(const unsigned char* bytes, size_t size) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
  uint64_t hash = size * kOdd;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof(word));
    const unsigned __int128 product =
        static_cast<unsigned __int128>(word ^ hash) * kOdd;
    hash = static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64) ^ (hash << 32 | hash >> 32);
  }
  return hash;
}

// Whether the token-like dim's value is left out of the key. The first letters
// tell most names apart without a comparison.
bool IsTokenValue(const ingot_dim& dim) {
  if (dim.kind != INGOT_DIM_VALUE) return false;
  return strchr("mrtscbk", dim.name[0]) != nullptr &&
         ingot_is_token_dim(dim.name);
}

void WriteDim(const ingot_dim& dim, KeyWriter* out) {
  out->String(dim.name);
  if (dim.name == nullptr) return;
  if (IsTokenValue(dim)) {
    out->Value<uint8_t>(2);
    return;
  }
  out->Value(static_cast<uint8_t>(dim.kind));
  if (dim.kind == INGOT_DIM_VALUE) {
    out->Value(dim.value);
  } else {
    out->Value(dim.min);
    out->Value(dim.max);
    out->Value(dim.multiple_of);
  }
}

void WriteOperand(const ingot_operand& operand, KeyWriter* out) {
  out->String(operand.name);
  out->String(operand.dtype);
  out->Value(static_cast<uint8_t>(operand.stride_mode));
  out->Value(operand.alignment);
  out->Value(static_cast<uint8_t>(operand.stride_count));
  for (uint32_t i = 0; i < operand.stride_count; ++i) {
    out->Value(operand.strides[i]);
  }
}

void WriteAttr(const ingot_attr& attr, KeyWriter* out) {
  out->String(attr.name);
  out->Value(static_cast<uint8_t>(attr.kind));
  switch (attr.kind) {
    case INGOT_ATTR_BOOL:
      return out->Value<uint8_t>(attr.int_value != 0);
    case INGOT_ATTR_FLOAT:
      return out->Value(attr.float_value);
    case INGOT_ATTR_STRING:
      return out->String(attr.string_value);
    default:
      return out->Value(attr.int_value);
  }
}

// A value that does not fit the byte that the key has for it is malformed, and
// must not look like one that is not.
bool IsPlain(const ingot_spec& spec) {
  if (spec.size != sizeof(spec) || spec.reserved != 0 ||
      spec.dim_count > INGOT_MAX_DIMS ||
      spec.operand_count > INGOT_MAX_OPERANDS ||
      spec.attr_count > INGOT_MAX_ATTRS ||
      spec.tuning_count > INGOT_MAX_TUNING ||
      (spec.dim_count > 0 && spec.dims == nullptr) ||
      (spec.operand_count > 0 && spec.operands == nullptr) ||
      (spec.attr_count > 0 && spec.attrs == nullptr) ||
      (spec.tuning_count > 0 && spec.tuning == nullptr)) {
    return false;
  }
  bool plain = true;
  for (uint32_t i = 0; i < spec.dim_count; ++i) {
    plain &= spec.dims[i].size == sizeof(ingot_dim) && spec.dims[i].kind <= 1;
    plain &= spec.dims[i].value >= 0;
  }
  for (uint32_t i = 0; i < spec.operand_count; ++i) {
    const ingot_operand& operand = spec.operands[i];
    plain &= operand.size == sizeof(operand) && operand.stride_mode <= 2 &&
             operand.stride_count <= INGOT_MAX_STRIDES;
    plain &= operand.stride_count == 0 || operand.strides != nullptr;
  }
  for (uint32_t i = 0; i < spec.attr_count; ++i) {
    plain &=
        spec.attrs[i].size == sizeof(ingot_attr) && spec.attrs[i].kind <= 4;
  }
  for (uint32_t i = 0; i < spec.tuning_count; ++i) {
    plain &= spec.tuning[i].size == sizeof(ingot_tuning);
  }
  return plain;
}

}  // namespace

bool MakeSpecKey(const ingot_spec& spec, uint64_t pin_epoch, SpecKey* key) {
  if (!IsPlain(spec)) return false;
  KeyWriter out(key->bytes);
  out.String(spec.op);
  out.String(spec.target != nullptr ? spec.target : "");
  out.Value(pin_epoch);
  out.Value(static_cast<uint8_t>(spec.dim_count));
  for (uint32_t i = 0; i < spec.dim_count; ++i) WriteDim(spec.dims[i], &out);
  out.Value(static_cast<uint8_t>(spec.operand_count));
  for (uint32_t i = 0; i < spec.operand_count; ++i) {
    WriteOperand(spec.operands[i], &out);
  }
  out.Value(static_cast<uint8_t>(spec.attr_count));
  for (uint32_t i = 0; i < spec.attr_count; ++i) WriteAttr(spec.attrs[i], &out);
  for (uint32_t i = 0; i < spec.tuning_count; ++i) {
    out.String(spec.tuning[i].name);
    out.Value(spec.tuning[i].value);
  }
  if (!out.Finish(&key->size)) return false;
  key->hash = Hash(key->bytes, key->size);
  return true;
}

}  // namespace ingot::client
