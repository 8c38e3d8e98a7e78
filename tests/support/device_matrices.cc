#include "tests/support/device_matrices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace ingot::testing {
namespace {

constexpr unsigned char kPoison = 0xff;

bool Intact(const unsigned char* from, const unsigned char* to) {
  return std::all_of(from, std::max(from, to),
                     [](unsigned char byte) { return byte == kPoison; });
}

int64_t ElementsSpanned(const MatrixLayout& x) {
  return (x.batch - 1) * x.batch_stride + (x.rows - 1) * x.row_stride +
         x.columns;
}

}  // namespace

DeviceMatrices::DeviceMatrices(TestDevice& device, const std::string& dtype,
                               const MatrixLayout& layout)
    : device_(device),
      format_(FormatOf(dtype)),
      layout_(layout),
      bytes_(ElementsSpanned(layout) * format_.bytes + layout.skip +
             2 * layout.guard),
      base_(device.Allocate<unsigned char>(bytes_)),
      start_(base_ + layout.guard + layout.skip) {
  std::memset(base_, kPoison, bytes_);
}

unsigned char* DeviceMatrices::Address(int64_t matrix, int64_t row,
                                       int64_t column) const {
  return start_ +
         (matrix * layout_.batch_stride + row * layout_.row_stride + column) *
             format_.bytes;
}

double DeviceMatrices::At(int64_t matrix, int64_t row, int64_t column) const {
  return Decode(format_, Address(matrix, row, column));
}

void DeviceMatrices::Set(int64_t matrix, int64_t row, int64_t column,
                         double value) {
  Encode(format_, value, Address(matrix, row, column));
}

void DeviceMatrices::Fill(std::mt19937& random) {
  std::normal_distribution<double> normal;
  for (int64_t b = 0; b < layout_.batch; ++b) {
    for (int64_t row = 0; row < layout_.rows; ++row) {
      for (int64_t column = 0; column < layout_.columns; ++column) {
        Set(b, row, column, normal(random));
      }
    }
  }
}

void DeviceMatrices::Sprinkle(std::mt19937& random, int count) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {std::nan(""),
                             infinity,
                             -infinity,
                             -0.0,
                             format_.SmallestSubnormal(),
                             -3 * format_.SmallestSubnormal(),
                             std::ldexp(1.0, format_.bias() / 2)};
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (int i = 0; i < count; ++i) {
    Set(below(layout_.batch), below(layout_.rows), below(layout_.columns),
        specials[below(std::size(specials))]);
  }
}

std::vector<double> DeviceMatrices::Values() const {
  std::vector<double> values;
  values.reserve(layout_.batch * layout_.rows * layout_.columns);
  for (int64_t b = 0; b < layout_.batch; ++b) {
    for (int64_t row = 0; row < layout_.rows; ++row) {
      for (int64_t column = 0; column < layout_.columns; ++column) {
        values.push_back(At(b, row, column));
      }
    }
  }
  return values;
}

std::string DeviceMatrices::Bytes() const {
  return std::string(reinterpret_cast<const char*>(base_), bytes_);
}

size_t DeviceMatrices::Checksum() const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(base_), static_cast<size_t>(bytes_)});
}

bool DeviceMatrices::Untouched(int64_t matrix, int64_t row) const {
  return Intact(Address(matrix, row, 0), Address(matrix, row, layout_.columns));
}

bool DeviceMatrices::SurroundingsIntact() const {
  // Rows in order of address: matrices of a batch may be woven together.
  std::vector<const unsigned char*> rows;
  for (int64_t b = 0; b < layout_.batch; ++b) {
    for (int64_t row = 0; row < layout_.rows; ++row) {
      rows.push_back(Address(b, row, 0));
    }
  }
  std::sort(rows.begin(), rows.end());
  const unsigned char* free = base_;
  for (const unsigned char* row : rows) {
    if (!Intact(free, row)) return false;
    free = row + layout_.columns * format_.bytes;
  }
  return Intact(free, base_ + bytes_);
}

}  // namespace ingot::testing
