#include "tests/support/device_matrices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace ingot::testing {
namespace {

constexpr unsigned char kPoison = 0xff;
constexpr int64_t kWatched = 256;

bool Intact(const std::pair<unsigned char*, unsigned char*>& range) {
  return std::all_of(range.first, range.second,
                     [](unsigned char byte) { return byte == kPoison; });
}

int64_t ElementsSpanned(const MatrixLayout& x) {
  return (x.batch - 1) * x.batch_stride + (x.rows - 1) * x.row_stride +
         x.columns;
}

}  // namespace

DeviceMatrices::DeviceMatrices(TestDevice& device, const std::string& dtype,
                               const MatrixLayout& layout)
    : format_(FormatOf(dtype)),
      layout_(layout),
      pages_(device, ElementsSpanned(layout) * format_.bytes + layout.skip +
                         2 * layout.guard) {
  for (const Range& gap : Gaps()) {
    std::memset(gap.first, kPoison, gap.second - gap.first);
  }
  for (const Range& row : Rows()) {
    std::memset(row.first, kPoison, row.second - row.first);
  }
}

unsigned char* DeviceMatrices::start() const {
  return pages_.data() + layout_.guard + layout_.skip;
}

unsigned char* DeviceMatrices::Address(int64_t matrix, int64_t row,
                                       int64_t column) const {
  return start() +
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

std::vector<DeviceMatrices::Range> DeviceMatrices::Rows() const {
  std::vector<Range> rows;
  for (int64_t b = 0; b < layout_.batch; ++b) {
    for (int64_t row = 0; row < layout_.rows; ++row) {
      rows.push_back({Address(b, row, 0), Address(b, row, layout_.columns)});
    }
  }
  // Matrices of a batch may be woven together, or the same.
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<DeviceMatrices::Range> DeviceMatrices::Gaps() const {
  std::vector<Range> gaps;
  const auto add = [&](unsigned char* from, unsigned char* to) {
    if (pages_.sparse() && to - from > 2 * kWatched) {
      gaps.push_back({from, from + kWatched});
      from = to - kWatched;
    }
    if (from < to) gaps.push_back({from, to});
  };
  unsigned char* free = pages_.data();
  for (const Range& row : Rows()) {
    add(free, row.first);
    free = row.second;
  }
  add(free, pages_.data() + pages_.bytes());
  return gaps;
}

std::string DeviceMatrices::Bytes() const {
  std::string bytes;
  for (const std::vector<Range>& ranges : {Rows(), Gaps()}) {
    for (const Range& range : ranges) {
      bytes.append(range.first, range.second);
    }
  }
  return bytes;
}

size_t DeviceMatrices::Checksum() const {
  return std::hash<std::string>()(Bytes());
}

bool DeviceMatrices::Untouched(int64_t matrix, int64_t row) const {
  return Intact(
      {Address(matrix, row, 0), Address(matrix, row, layout_.columns)});
}

bool DeviceMatrices::SurroundingsIntact() const {
  const std::vector<Range> gaps = Gaps();
  return std::all_of(gaps.begin(), gaps.end(), Intact);
}

}  // namespace ingot::testing
