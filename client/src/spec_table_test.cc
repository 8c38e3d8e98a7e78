#include "client/src/spec_table.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "client/src/prepared.h"
#include "client/testing/spec_text.h"
#include "gtest/gtest.h"

namespace ingot::client {
namespace {

OwnedSpec Gemm(int64_t m, int64_t n) {
  OwnedSpec spec;
  spec.SetOp("gemm");
  spec.AddDim("m", m);
  spec.AddDim("n", n);
  spec.AddOperand("a", "bf16");
  spec.AddString("layout", "nt");
  return spec;
}

std::unique_ptr<SpecKey> KeyOf(OwnedSpec spec, uint64_t epoch = 0) {
  auto key = std::make_unique<SpecKey>();
  EXPECT_TRUE(MakeSpecKey(*spec.spec(), epoch, key.get()));
  return key;
}

bool Same(const SpecKey& a, const SpecKey& b) {
  return a.hash == b.hash && a.size == b.size &&
         std::equal(a.bytes, a.bytes + a.size, b.bytes);
}

TEST(SpecKeyTest, TokenValuesAloneDoNotMatter) {
  const auto base = KeyOf(Gemm(1, 64));
  EXPECT_TRUE(Same(*base, *KeyOf(Gemm(4096, 64))));
  EXPECT_FALSE(Same(*base, *KeyOf(Gemm(1, 65))));
  EXPECT_FALSE(Same(*base, *KeyOf(Gemm(1, 64), 7)));
  OwnedSpec ranged;
  ranged.SetOp("gemm");
  ranged.AddRange("m", 1, 64, 0);
  ranged.AddDim("n", 64);
  ranged.AddOperand("a", "bf16");
  ranged.AddString("layout", "nt");
  EXPECT_FALSE(Same(*base, *KeyOf(std::move(ranged))));
}

TEST(SpecKeyTest, EveryFieldMatters) {
  const auto make = [](int change) {
    OwnedSpec spec;
    spec.SetOp(change == 1 ? "gemn" : "gemm");
    spec.SetTarget(change == 2 ? "gfx950:xnack-" : "gfx950");
    spec.AddRange(change == 3 ? "k" : "n", change == 4 ? 1 : 0,
                  change == 5 ? 9 : 0, change == 6 ? 8 : 0);
    spec.AddOperand(change == 7 ? "b" : "a", change == 8 ? "f16" : "bf16",
                    change == 9 ? INGOT_STRIDES_DYNAMIC : INGOT_STRIDES_STATIC,
                    change == 10 ? 32 : 0,
                    {change == 11 ? int64_t{9} : int64_t{8}, 1});
    spec.AddInt(change == 12 ? "y" : "x", change == 13 ? 2 : 1);
    if (change == 14) spec.AddBool("flag", true);
    spec.AddTuning(change == 15 ? "u" : "t", change == 16 ? 2 : 1);
    return KeyOf(std::move(spec));
  };
  std::vector<std::unique_ptr<SpecKey>> keys;
  for (int change = 0; change <= 16; ++change) keys.push_back(make(change));
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_FALSE(Same(*keys[i], *keys[k]));
  }
}

TEST(SpecKeyTest, WhatCannotHaveAKeyHasNone) {
  SpecKey key;
  EXPECT_FALSE(MakeSpecKey(*Gemm(-1, 64).spec(), 0, &key));
  OwnedSpec owned = Gemm(1, 64);
  ingot_spec spec = *owned.spec();
  spec.op = nullptr;
  EXPECT_FALSE(MakeSpecKey(spec, 0, &key));
  spec = *owned.spec();
  spec.dims = nullptr;
  EXPECT_FALSE(MakeSpecKey(spec, 0, &key));
  spec = *owned.spec();
  spec.size += 8;
  EXPECT_FALSE(MakeSpecKey(spec, 0, &key));
  OwnedSpec longest = Gemm(1, 64);
  longest.AddString("text", std::string(5000, 'x'));
  EXPECT_FALSE(MakeSpecKey(*longest.spec(), 0, &key));
}

TEST(SpecTableTest, FindsWhatWasPutWhileItGrows) {
  constexpr int kSpecs = 3000;
  SpecTable table;
  std::vector<std::unique_ptr<ingot_prepared>> handles;
  std::vector<std::unique_ptr<SpecKey>> keys;
  for (int i = 0; i < kSpecs; ++i) {
    handles.push_back(std::make_unique<ingot_prepared>());
    keys.push_back(KeyOf(Gemm(1, i)));
  }
  std::atomic<int> put = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (put.load() < kSpecs) {
        const int known = put.load();
        for (int i = 0; i < known; i += 17) {
          if (table.Find(*keys[i]) != handles[i].get()) wrong.fetch_add(1);
        }
      }
    });
  }
  for (int i = 0; i < kSpecs; ++i) {
    EXPECT_EQ(table.Find(*keys[i]), nullptr);
    table.Put(*keys[i], handles[i].get());
    put.store(i + 1);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
  table.Put(*keys[5], handles[6].get());
  EXPECT_EQ(table.Find(*keys[5]), handles[6].get());
}

}  // namespace
}  // namespace ingot::client
