#include "compiler/tile/narrow.h"

#include <algorithm>

#include "absl/functional/function_ref.h"

namespace ingot::tile {
namespace {

constexpr int kMantissaBits = 23;  // of f32

// Exponent of the largest number: 448 = 1.75 * 2^8, 6 = 1.5 * 2^2.
int LargestExponent(MxFormat format) {
  return format == MxFormat::kE4M3 ? 8 : 2;
}

// One word for each `lanes` lanes of `x`, made by `convert(first lane)`; as
// bytes.
Value PackWords(Value x, int lanes, absl::FunctionRef<Value(int)> convert) {
  Values words;
  for (int i = 0; i < x.type().lanes; i += lanes) words.push_back(convert(i));
  Value packed = Pack(words);
  if (!packed.valid()) return {};
  return Bitcast(packed, Vec(kI8, packed.type().Bytes()));
}

Value FourE4M3(Value x, int first) {
  Builder& b = *x.builder();
  Value word = b.I32(0);
  for (int pair = 0; pair < 2; ++pair) {
    Value low = Extract(x, first + 2 * pair);
    Value high = Extract(x, first + 2 * pair + 1);
    word = b.Intrinsic("llvm.amdgcn.cvt.pk.fp8.f32",
                       {low, high, word, b.Bool(pair == 1)}, kI32);
  }
  return word;
}

// Without a clamp what is above 464 would be NaN: 448 is the limit.
Value FourMxE4M3(Value x, int first, Value divisor, Value limit) {
  Builder& b = *x.builder();
  Value word = b.Zero(Vec(kI16, 2));
  const auto clamped = [&](int lane) {
    return b.Intrinsic("llvm.amdgcn.fmed3.f32",
                       {Extract(x, lane), -limit, limit}, kF32);
  };
  for (int pair = 0; pair < 2; ++pair) {
    Value low = clamped(first + 2 * pair);
    Value high = clamped(first + 2 * pair + 1);
    word = b.Intrinsic("llvm.amdgcn.cvt.scalef32.pk.fp8.f32",
                       {word, low, high, divisor, b.Bool(pair == 1)},
                       Vec(kI16, 2));
  }
  return Bitcast(word, kI32);
}

// A byte of pairs for each two lanes, up to eight lanes a word.
Value EightMxE2M1(Value x, int first, Value divisor) {
  Builder& b = *x.builder();
  Value word = b.I32(0);
  const int pairs = std::min(4, (x.type().lanes - first) / 2);
  for (int pair = 0; pair < pairs; ++pair) {
    word = b.Intrinsic("llvm.amdgcn.cvt.scalef32.pk.fp4.f32",
                       {word, Extract(x, first + 2 * pair),
                        Extract(x, first + 2 * pair + 1), divisor, b.I32(pair)},
                       kI32);
  }
  return word;
}

}  // namespace

Value ToE4M3(Value x) {
  if (!x.valid()) return {};
  if (x.type().lanes > 1) {
    return PackWords(x, 4, [&](int first) { return FourE4M3(x, first); });
  }
  Builder& b = *x.builder();
  Value word = b.Intrinsic("llvm.amdgcn.cvt.pk.fp8.f32",
                           {x, x, b.I32(0), b.Bool(false)}, kI32);
  return Extract(Bitcast(word, Vec(kI8, 4)), 0);
}

Value MxScaleOf(MxFormat format, Value amax) {
  Value exponent = Bitcast(amax, kI32) >> kMantissaBits;
  Value scale =
      Max(exponent - LargestExponent(format), exponent.Like(int64_t{0}));
  return Select(exponent == 255, exponent, scale);
}

Value ToMx(MxFormat format, Value x, Value scale) {
  if (!x.valid() || !scale.valid()) return {};
  Value divisor = Bitcast(scale << kMantissaBits, kF32);
  if (format == MxFormat::kE2M1) {
    const int lanes = x.type().lanes;
    Value bytes = PackWords(
        x, 8, [&](int first) { return EightMxE2M1(x, first, divisor); });
    return Slice(bytes, 0, lanes / 2);
  }
  // 448 times the scale, whose exponent may be the least.
  constexpr int64_t kLargest = int64_t{8} << kMantissaBits | 0x600000;
  Value limit = Bitcast((scale << kMantissaBits) + kLargest, kF32);
  return PackWords(
      x, 4, [&](int first) { return FourMxE4M3(x, first, divisor, limit); });
}

}  // namespace ingot::tile
