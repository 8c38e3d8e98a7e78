// Atomics of clang's, and waves that wait for each other: see
// foreign/atomics.cl.
#include <functional>
#include <limits>
#include <map>

#include "tests/emulator/foreign_fixture.h"

namespace ingot::emulator {
namespace {

class Atomics : public Foreign {
 protected:
  void SetUp() override { LoadGroup("atomics"); }

  // Runs `kernel`, where item i applies `op` to place i % 7. Whatever the order
  // was, a place's old values and its last one are a walk through its items.
  template <class T>
  void Check(const std::string& kernel, std::function<T(T, T)> op) {
    const bool lds = kernel.rfind("lds_", 0) == 0;
    const int n = lds ? 250 : 601;
    const T* v = Filled<T>(static_cast<size_t>(n),
                           [this](size_t) { return Random(100) - 30; });
    T* places = Filled<T>(7, [this](size_t) { return Random(50); });
    const std::vector<T> first(places, places + 7);
    T* old = Buffer<T>(static_cast<size_t>(n));
    Go(kernel, Arguments().Add(places).Add(old).Add(v).Add(n), lds ? 1 : 10,
       lds ? 256 : 64);
    for (int p = 0; p < 7; ++p) {
      // For each value that the place had: the items that saw it.
      std::multimap<T, int> seen;
      for (int i = p; i < n; i += 7) seen.emplace(old[i], i);
      T now = first[static_cast<size_t>(p)];
      while (!seen.empty()) {
        // Items that leave the value as it is come first.
        auto [from, to] = seen.equal_range(now);
        ASSERT_NE(from, to) << kernel << ": nobody saw " << +now;
        auto next = from;
        for (auto at = from; at != to; ++at) {
          if (op(now, v[at->second]) == now) next = at;
        }
        now = op(now, v[next->second]);
        seen.erase(next);
      }
      ASSERT_EQ(places[p], now) << kernel << " place " << p;
    }
  }
};

template <class T>
T Add(T a, T b) {
  return static_cast<T>(a + b);
}
template <class T>
T Min(T a, T b) {
  return std::min(a, b);
}
template <class T>
T Max(T a, T b) {
  return std::max(a, b);
}

// Sums whose parts are all positive or all distinct steps have one walk only;
// the values here may repeat, so a walk may branch. Those that only grow or
// only shrink cannot go wrong.
TEST_P(Atomics, OrderStatistics) {
  Check<int32_t>("min_i32", Min<int32_t>);
  Check<uint64_t>("max_u64", Max<uint64_t>);
  Check<int64_t>("min_i64", Min<int64_t>);
  Check<int32_t>("max_i32", Max<int32_t>);
  Check<float>("max_f32", Max<float>);
  Check<double>("min_f64", Min<double>);
  Check<uint32_t>("and_u32", std::bit_and<uint32_t>());
  Check<uint64_t>("or_u64", std::bit_or<uint64_t>());
  Check<int32_t>("lds_max_i32", Max<int32_t>);
  Check<int64_t>("lds_min_i64", Min<int64_t>);
}

// One addend for all: the old values are then known as a set.
TEST_P(Atomics, SumsSeeEachStepOnce) {
  const auto check = [this](const std::string& kernel, auto zero, int sign) {
    using T = decltype(zero);
    const bool lds = kernel.rfind("lds_", 0) == 0;
    const int n = lds ? 250 : 601;
    const T* v = Filled<T>(static_cast<size_t>(n), [](size_t) { return T{3}; });
    T* places = Filled<T>(7, [](size_t i) { return i; });
    T* old = Buffer<T>(static_cast<size_t>(n));
    Go(kernel, Arguments().Add(places).Add(old).Add(v).Add(n), lds ? 1 : 10,
       lds ? 256 : 64);
    for (int p = 0; p < 7; ++p) {
      std::vector<T> got, want;
      T value = static_cast<T>(p);
      for (int i = p; i < n; i += 7) {
        got.push_back(old[i]);
        want.push_back(value);
        value = static_cast<T>(value + static_cast<T>(sign * 3));
      }
      std::sort(got.begin(), got.end());
      std::sort(want.begin(), want.end());
      ASSERT_EQ(got, want) << kernel << " place " << p;
      ASSERT_EQ(places[p], value) << kernel << " place " << p;
    }
  };
  check("add_u32", uint32_t{}, 1);
  check("add_u64", uint64_t{}, 1);
  check("sub_u32", uint32_t{}, -1);
  check("add_f32", float{}, 1);
  check("add_f64", double{}, 1);
  check("add_u8", uint8_t{}, 1);
  check("add_u16", uint16_t{}, 1);
  check("lds_add_u32", uint32_t{}, 1);
  check("lds_add_u64", uint64_t{}, 1);
  check("lds_add_f32", float{}, 1);
  check("lds_add_f64", double{}, 1);
}

TEST_P(Atomics, ExclusiveOrEndsAtTheParity) {
  for (const char* kernel : {"xor_u32", "lds_xor_u32"}) {
    const int n = 200;
    const uint32_t* v =
        Filled<uint32_t>(n, [this](size_t) { return random_(); });
    uint32_t *places = Zeros<uint32_t>(7), *old = Buffer<uint32_t>(n);
    Go(kernel, Arguments().Add(places).Add(old).Add(v).Add(n), 1, 256);
    uint32_t want[7] = {};
    for (int i = 0; i < n; ++i) want[i % 7] ^= v[i];
    for (int p = 0; p < 7; ++p) EXPECT_EQ(places[p], want[p]) << kernel;
  }
}

TEST_P(Atomics, PackedPairs) {
  _Float16* h = Zeros<_Float16>(4);
  uint16_t* b = Zeros<uint16_t>(2);
  const int n = 100;
  Go("add_pairs", Arguments().Add(h).Add(b).Add(n), 1, 128);
  EXPECT_EQ(double(h[0]), 100.0);
  EXPECT_EQ(double(h[1]), 50.0);
  EXPECT_EQ(double(h[2]), 200.0);
  EXPECT_EQ(double(h[3]), -100.0);
  EXPECT_EQ(b[0], 0x42c8);  // 100
  EXPECT_EQ(b[1], 0x4348);  // 200
}

TEST_P(Atomics, AStackHoldsEveryNodeOnce) {
  const uint32_t n = 500, nothing = 0xffffffff;
  uint32_t* head = Filled<uint32_t>(1, [&](size_t) { return nothing; });
  uint32_t* next = Buffer<uint32_t>(n);
  Go("push", Arguments().Add(head).Add(next).Add(n), 8, 64);
  std::vector<bool> seen(n);
  uint32_t count = 0;
  for (uint32_t at = *head; at != nothing; at = next[at], ++count) {
    ASSERT_LT(at, n);
    ASSERT_FALSE(seen[at]) << at;
    seen[at] = true;
  }
  EXPECT_EQ(count, n);
}

TEST_P(Atomics, ALoopThatNoInstructionDoes) {
  const int n = 333;
  const uint64_t* v =
      Filled<uint64_t>(n, [this](size_t) { return random_() | 1; });
  uint64_t* product = Filled<uint64_t>(1, [](size_t) { return 1; });
  Go("multiply", Arguments().Add(product).Add(v).Add(n), 6, 64);
  uint64_t want = 1;
  for (int i = 0; i < n; ++i) want *= v[i];
  EXPECT_EQ(*product, want);
}

TEST_P(Atomics, GenericPointers) {
  const int n = 201;
  uint32_t *places = Zeros<uint32_t>(4), *out = Buffer<uint32_t>(4);
  Go("generic_add", Arguments().Add(places).Add(out).Add(n), 1, 256);
  uint32_t lds[4] = {100, 100, 100, 100}, global[4] = {};
  for (uint32_t i = 0; i < 201; ++i) (i % 2 == 0 ? lds : global)[i % 4] += i;
  for (int p = 0; p < 4; ++p) {
    EXPECT_EQ(out[p], lds[p]);
    EXPECT_EQ(places[p], global[p]);
  }
}

TEST_P(Atomics, WavesTakeTurnsByAFlag) {
  uint32_t* out = Buffer<uint32_t>(8);
  LaunchConfig config;
  config.block[0] = 512;
  Go("relay", Arguments().Add(out), config);
  for (uint32_t wave = 0, sum = 1; wave < 8; sum = sum * 3 + wave, ++wave)
    EXPECT_EQ(out[wave], sum) << wave;
}

INGOT_FOREIGN_VARIANTS(Atomics);

}  // namespace
}  // namespace ingot::emulator
