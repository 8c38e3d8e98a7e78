// The rows of block-scaled matrices in device memory, with linear scales: codes
// and scales that are random, and their values in f64. Where there is room
// between rows, and it is not too large to fill, its bytes are 0xff: no zeros
// in any format, and NaN as a scale.
#ifndef TESTS_SUPPORT_MX_ROWS_H_
#define TESTS_SUPPORT_MX_ROWS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "tests/support/device_pages.h"
#include "tests/support/launch.h"
#include "tests/support/mx_format.h"

namespace ingot::testing {

// Rows are numbered through all groups.
struct MxLayout {
  int64_t rows = 1;  // of a group
  int64_t groups = 1;
  int64_t pad = 0;  // bytes behind each row of codes, and of scales
  int64_t gap = 0;  // rows behind each group
};

class MxRows {
 public:
  // `specials` NaN, infinite or any other codes and extreme scales here and
  // there; without them all values are finite.
  MxRows(TestDevice& device, const std::string& dtype, const MxLayout& layout,
         int64_t k, int specials, std::mt19937& random)
      : dtype_(dtype),
        layout_(layout),
        row_bytes_(MxRowBytes(dtype, k)),
        blocks_(k / 32),
        data_(device, Bytes(row_bytes_)),
        scales_(device, Bytes(blocks_)) {
    for (const DevicePages* x : {&data_, &scales_}) {
      if (!x->sparse()) std::memset(x->data(), 0xff, x->bytes());
    }
    const int64_t rows = layout.rows * layout.groups;
    const uint32_t codes = 1u << MxFormatOf(dtype).bits();
    for (int64_t i = 0; i < rows * k; ++i) {
      uint32_t code = random() % codes;
      while (!std::isfinite(MxValue(dtype, code)) ||
             std::fabs(MxValue(dtype, code)) > 64) {
        code = random() % codes;
      }
      MxPutCode(dtype, Codes(i / k), i % k, code);
    }
    for (int64_t i = 0; i < rows * blocks_; ++i) {
      Scales(i / blocks_)[i % blocks_] =
          static_cast<uint8_t>(120 + random() % 14);
    }
    // Not 254, with which sums of both signs overflow.
    constexpr uint8_t kExtreme[] = {0, 1, 255};
    for (int i = 0; i < specials; ++i) {
      MxPutCode(dtype, Codes(random() % rows), random() % k, random() % codes);
      Scales(random() % rows)[random() % blocks_] = kExtreme[random() % 3];
    }
  }

  void* data() const { return data_.data(); }
  void* scales() const { return scales_.data(); }
  // Bytes from one row, and from one group, to the next; of codes or of scales.
  int64_t row_stride(bool of_scales) const {
    return (of_scales ? blocks_ : row_bytes_) + layout_.pad;
  }
  int64_t group_stride(bool of_scales) const {
    return (layout_.rows + layout_.gap) * row_stride(of_scales);
  }
  double At(int64_t row, int64_t i) const {
    return MxValue(dtype_, MxCode(dtype_, Codes(row), i)) *
           MxScale(Scales(row)[i / 32]);
  }
  // All of the row becomes NaN.
  void Poison(int64_t row) { std::memset(Scales(row), 0xff, blocks_); }
  size_t Checksum() const {
    size_t sum = 0;
    const auto add = [&](const uint8_t* from, int64_t bytes) {
      sum = sum * 31 +
            std::hash<std::string_view>()({reinterpret_cast<const char*>(from),
                                           static_cast<size_t>(bytes)});
    };
    for (int64_t row = 0; row < layout_.rows * layout_.groups; ++row) {
      add(Codes(row), row_bytes_);
      add(Scales(row), blocks_);
    }
    return sum;
  }

 private:
  int64_t Bytes(int64_t row_bytes) const {
    return ((layout_.rows + layout_.gap) * (layout_.groups - 1) + layout_.rows -
            1) *
               (row_bytes + layout_.pad) +
           row_bytes;
  }
  uint8_t* Row(const DevicePages& pages, int64_t row, bool of_scales) const {
    return pages.data() + row / layout_.rows * group_stride(of_scales) +
           row % layout_.rows * row_stride(of_scales);
  }
  uint8_t* Codes(int64_t row) const { return Row(data_, row, false); }
  uint8_t* Scales(int64_t row) const { return Row(scales_, row, true); }

  std::string dtype_;
  MxLayout layout_;
  int64_t row_bytes_;
  int64_t blocks_;
  DevicePages data_;
  DevicePages scales_;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_MX_ROWS_H_
