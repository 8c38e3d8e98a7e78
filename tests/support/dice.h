// Choices of the sweeps over random problems.
#ifndef TESTS_SUPPORT_DICE_H_
#define TESTS_SUPPORT_DICE_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ingot::testing {

class Dice {
 public:
  // `random` must outlive the dice.
  explicit Dice(std::mt19937& random) : random_(random) {}

  // 0 .. n - 1
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  T Pick(const std::vector<T>& list) {
    return list[Below(static_cast<int64_t>(list.size()))];
  }
  // Rows or columns: few, around the edges of tiles, multiples of 8, and any
  // up to 304.
  int64_t Extent() {
    switch (Below(4)) {
      case 0:
        return 1 + Below(20);
      case 1:
        return Pick<int64_t>({16, 32, 64, 128, 256}) + Below(5) - 2;
      case 2:
        return 8 * (1 + Below(38));
      default:
        return 1 + Below(300);
    }
  }
  // An activation, and where it needs one a pairing.
  void Activation(std::string* act, std::string* pairing) {
    *act = Pick<std::string>({"none", "none", "relu", "gelu_tanh", "gelu_erf",
                              "silu", "swiglu", "swiglu"});
    pairing->clear();
    if (*act == "swiglu") {
      *pairing = Pick<std::string>({"halves", "interleaved"});
    }
  }

 private:
  std::mt19937& random_;
};

}  // namespace ingot::testing

#endif  // TESTS_SUPPORT_DICE_H_
