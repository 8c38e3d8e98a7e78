// The rows of a block-scaled matrix in device memory, dense, with linear
// scales: codes and scales that are random, and their values in f64.
#ifndef TESTS_SUPPORT_MX_ROWS_H_
#define TESTS_SUPPORT_MX_ROWS_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "tests/support/launch.h"
#include "tests/support/mx_format.h"

namespace ingot::testing {

class MxRows {
 public:
  // `specials` NaN, infinite or any other codes and extreme scales here and
  // there; without them all values are finite.
  MxRows(TestDevice& device, const std::string& dtype, int64_t rows, int64_t k,
         int specials, std::mt19937& random)
      : device_(device),
        dtype_(dtype),
        rows_(rows),
        row_bytes_(MxRowBytes(dtype, k)),
        blocks_(k / 32),
        data_(device.Allocate<uint8_t>(rows * row_bytes_)),
        scales_(device.Allocate<uint8_t>(rows * blocks_)) {
    const uint32_t codes = 1u << MxFormatOf(dtype).bits();
    for (int64_t i = 0; i < rows * k; ++i) {
      uint32_t code = random() % codes;
      while (!std::isfinite(MxValue(dtype, code)) ||
             std::fabs(MxValue(dtype, code)) > 64) {
        code = random() % codes;
      }
      MxPutCode(dtype, data_ + i / k * row_bytes_, i % k, code);
    }
    for (int64_t i = 0; i < rows * blocks_; ++i) {
      scales_[i] = static_cast<uint8_t>(120 + random() % 14);
    }
    // Not 254, with which sums of both signs overflow.
    constexpr uint8_t kExtreme[] = {0, 1, 255};
    for (int i = 0; i < specials; ++i) {
      MxPutCode(dtype, data_ + random() % rows * row_bytes_, random() % k,
                random() % codes);
      scales_[random() % (rows * blocks_)] = kExtreme[random() % 3];
    }
  }
  ~MxRows() {
    device_.Free(data_);
    device_.Free(scales_);
  }
  MxRows(const MxRows&) = delete;
  MxRows& operator=(const MxRows&) = delete;

  void* data() const { return data_; }
  void* scales() const { return scales_; }
  double At(int64_t row, int64_t i) const {
    return MxValue(dtype_, MxCode(dtype_, data_ + row * row_bytes_, i)) *
           MxScale(scales_[row * blocks_ + i / 32]);
  }
  // All of the row becomes NaN.
  void Poison(int64_t row) {
    for (int64_t i = 0; i < blocks_; ++i) scales_[row * blocks_ + i] = 255;
  }
  size_t Checksum() const {
    const auto hash = [](const uint8_t* from, int64_t bytes) {
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char*>(from), static_cast<size_t>(bytes)});
    };
    return hash(data_, rows_ * row_bytes_) ^ hash(scales_, rows_ * blocks_);
  }

 private:
  TestDevice& device_;
  std::string dtype_;
  int64_t rows_;
  int64_t row_bytes_;
  int64_t blocks_;
  uint8_t* data_;
  uint8_t* scales_;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_MX_ROWS_H_
