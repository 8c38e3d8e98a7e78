// Matrices in device memory, one or a batch of them, anyhow laid out: for the
// operands of ops under test. Values go in and out as f64 through number.h.
// Those that span more than 256 MiB take only the pages of their rows; of what
// lies between rows, 256 bytes at each end are watched.
#ifndef TESTS_SUPPORT_DEVICE_MATRICES_H_
#define TESTS_SUPPORT_DEVICE_MATRICES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/device_pages.h"
#include "tests/support/launch.h"
#include "tests/support/number.h"

namespace ingot::testing {

// In elements, but for `skip` and `guard`.
struct MatrixLayout {
  int64_t batch = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t row_stride = 1;
  int64_t batch_stride = 0;  // 0: all the same matrix
  int64_t skip = 0;   // bytes from an aligned address to the first element
  int64_t guard = 0;  // bytes on both sides that belong to nobody
};

class DeviceMatrices {
 public:
  // All watched bytes start as 0xff: NaN in every float format.
  DeviceMatrices(TestDevice& device, const std::string& dtype,
                 const MatrixLayout& layout);
  DeviceMatrices(const DeviceMatrices&) = delete;
  DeviceMatrices& operator=(const DeviceMatrices&) = delete;

  void* data() const { return start(); }
  const MatrixLayout& layout() const { return layout_; }
  const Format& format() const { return format_; }

  double At(int64_t matrix, int64_t row, int64_t column) const;
  // Rounds to the format.
  void Set(int64_t matrix, int64_t row, int64_t column, double value);
  // Normal numbers.
  void Fill(std::mt19937& random);
  // NaN, infinities, -0, subnormals and numbers so large that products of two
  // just fit into f32, `count` of them at random places.
  void Sprinkle(std::mt19937& random, int count);
  // [batch][rows][columns]
  std::vector<double> Values() const;

  // Everything watched, with guards; and a checksum of it, to see that nothing
  // changed.
  std::string Bytes() const;
  size_t Checksum() const;
  // Whether every byte of the row's elements is as it was.
  bool Untouched(int64_t matrix, int64_t row) const;
  // Whether every byte that is no element is as it was.
  bool SurroundingsIntact() const;

 private:
  // [begin, end) in memory.
  using Range = std::pair<unsigned char*, unsigned char*>;

  unsigned char* Address(int64_t matrix, int64_t row, int64_t column) const;
  unsigned char* start() const;
  // The rows' elements, and the watched bytes between and around them, both in
  // order of address.
  std::vector<Range> Rows() const;
  std::vector<Range> Gaps() const;

  Format format_;
  MatrixLayout layout_;
  DevicePages pages_;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_DEVICE_MATRICES_H_
