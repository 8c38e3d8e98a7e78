// One matrix in device memory, rows apart by the same distance: DeviceMatrices
// for those who have no batch.
#ifndef TESTS_SUPPORT_DEVICE_MATRIX_H_
#define TESTS_SUPPORT_DEVICE_MATRIX_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_matrices.h"

namespace ingot::testing {

// [rows, columns] with `pad` elements behind each row but the last, and `guard`
// bytes on both sides. Everything starts as NaN.
class DeviceMatrix {
 public:
  DeviceMatrix(TestDevice& device, const std::string& dtype, int64_t rows,
               int64_t columns, int64_t pad, int64_t guard)
      : all_(device, dtype,
             {.rows = rows,
              .columns = columns,
              .row_stride = columns + pad,
              .guard = guard}) {}

  void* data() const { return all_.data(); }
  int64_t stride() const { return all_.layout().row_stride; }
  const Format& format() const { return all_.format(); }
  double At(int64_t row, int64_t column) const {
    return all_.At(0, row, column);
  }
  // Rounds to the format.
  void Set(int64_t row, int64_t column, double value) {
    all_.Set(0, row, column, value);
  }
  // Normal numbers, rounded to the format; returned in f64, row by row.
  std::vector<double> Fill(std::mt19937& random) {
    all_.Fill(random);
    return all_.Values();
  }
  std::string Bytes() const { return all_.Bytes(); }
  // Whether every byte of the row's elements is as it was.
  bool Untouched(int64_t row) const { return all_.Untouched(0, row); }
  // Whether every byte that is no element is as it was.
  bool SurroundingsIntact() const { return all_.SurroundingsIntact(); }

 private:
  DeviceMatrices all_;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_DEVICE_MATRIX_H_
