// Stamps of units find the same conflicts as a plain list of who accessed each
// byte.
#include "tests/emulator/lds_stamps.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

namespace ingot::emulator {
namespace {

constexpr uint32_t kBytes = 512;
constexpr uint32_t kWaves = 4;

// What happened to a byte in this epoch.
struct Byte {
  std::set<int> readers, writers;

  bool Conflicts(int wave, bool writes) const {
    const auto other = [wave](const std::set<int>& waves) {
      return waves.size() > waves.count(wave);
    };
    return other(writers) || (writes && other(readers));
  }
};

struct Places {
  uint32_t at[kLanes];
  uint32_t bytes;
};

class LdsStampsTest : public testing::TestWithParam<uint32_t> {
 protected:
  // `fresh`: units are as large as they can be again.
  void NewEpoch(bool fresh) {
    if (fresh) {
      stamps_ = LdsStamps();
      stamps_.Resize(kBytes);
    }
    base_ = ++serial_;
    stamps_.SetBase(base_ << LdsStamps::kWhoBits);
    bytes_.assign(kBytes, Byte());
  }

  uint32_t Below(uint32_t most) {
    return static_cast<uint32_t>(random_()) % most;
  }

  // Accesses whose size and alignment are at least those of the test.
  Places Some() {
    Places p;
    const uint32_t grain = std::max(GetParam(), 16u >> Below(5));
    p.bytes = grain;
    const bool adjoin = grain * kLanes <= kBytes && Below(2) == 0;
    const uint32_t room = kBytes / grain - (adjoin ? kLanes : 1);
    const uint32_t first = Below(room + 1);
    for (uint32_t l = 0; l < kLanes; ++l) {
      const bool apart = !adjoin && Below(8) == 0;
      p.at[l] = grain * (adjoin ? first + l : apart ? Below(room + 1) : first);
    }
    return p;
  }

  bool Expected(const Places& p, int wave, bool writes) const {
    for (const uint32_t at : p.at) {
      for (uint32_t n = 0; n < p.bytes; ++n) {
        if (bytes_[at + n].Conflicts(wave, writes)) return true;
      }
    }
    return false;
  }

  bool Found(const Places& p, int wave, bool writes) {
    const LdsStamps::Stamp stamp = ++serial_ << LdsStamps::kWhoBits | wave;
    auto list = std::make_unique<AccessList>();
    uint64_t at[kLanes], low = kBytes, high = 0;
    for (int l = 0; l < kLanes; ++l) {
      at[l] = p.at[l];
      low = std::min(low, at[l]);
      high = std::max(high, at[l]);
    }
    list->AddRow(Space::kLds, 0, at, low, high, p.bytes, ~uint64_t{0});
    if (stamps_.TryRow(list->row(0), writes, stamp)) return false;
    for (const uint32_t place : p.at) {
      const bool clean = stamps_.ForEach(
          place, p.bytes, [&](const LdsStamps::Entry& e, uint32_t, uint32_t) {
            return !stamps_.Foreign(e.writer, stamp) &&
                   !(writes && (stamps_.Foreign(e.reader[0], stamp) ||
                                stamps_.Foreign(e.reader[1], stamp)));
          });
      if (!clean) return true;
    }
    for (const uint32_t place : p.at)
      stamps_.Mark(place, p.bytes, writes, stamp);
    return false;
  }

  void Note(const Places& p, int wave, bool writes) {
    for (const uint32_t at : p.at) {
      for (uint32_t n = 0; n < p.bytes; ++n) {
        Byte& byte = bytes_[at + n];
        (writes ? byte.writers : byte.readers).insert(wave);
      }
    }
  }

  std::mt19937 random_{GetParam()};
  LdsStamps stamps_;
  std::vector<Byte> bytes_;
  LdsStamps::Stamp serial_ = 0, base_ = 0;
};

TEST_P(LdsStampsTest, FindsWhatAListOfBytesFinds) {
  int conflicts = 0, clean = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    NewEpoch(epoch % 4 == 0);
    for (int n = 0; n < 8; ++n) {
      const Places p = Some();
      const int wave = static_cast<int>(Below(kWaves));
      const bool writes = Below(3) == 0;
      const bool expected = Expected(p, wave, writes);
      ASSERT_EQ(Found(p, wave, writes), expected)
          << "epoch " << epoch << ", access " << n;
      ++(expected ? conflicts : clean);
      if (!expected) Note(p, wave, writes);
    }
  }
  EXPECT_GT(conflicts, 100);
  EXPECT_GT(clean, 100);
}

INSTANTIATE_TEST_SUITE_P(LeastBytes, LdsStampsTest,
                         testing::Values(1, 2, 4, 8, 16));

}  // namespace
}  // namespace ingot::emulator
