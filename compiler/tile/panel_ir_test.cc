// The LDS image of a panel: every element has a place of its own, and no read
// of a fragment meets a bank twice in a phase.
#include <map>
#include <set>

#include "compiler/tile/panel.h"
#include "gtest/gtest.h"

namespace ingot::tile {
namespace {

// Most words of one bank that the lanes of a phase ask for. `bytes` of a lane
// are consecutive; the same word twice is one access.
int Conflict(const std::vector<int>& lanes, int bytes) {
  std::map<int, std::set<int>> banks;
  for (const int address : lanes) {
    for (int word = address / 4; word < (address + bytes) / 4; ++word) {
      banks[word % 64].insert(word);
    }
  }
  size_t most = 0;
  for (const auto& [bank, words] : banks) most = std::max(most, words.size());
  return static_cast<int>(most);
}

TEST(PanelImage, IsAPermutation) {
  for (const int mn : {16, 32, 64, 96, 128, 192, 256}) {
    for (const bool k_contiguous : {true, false}) {
      const PanelShape shape{mn, 64, k_contiguous, 4};
      const int rows = k_contiguous ? mn : shape.k;
      const int chunks = (k_contiguous ? shape.k : mn) / 8;
      std::set<int> places;
      for (int row = 0; row < rows; ++row) {
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const int byte = LdsByte(shape, row, chunk);
          EXPECT_EQ(byte % 16, 0);
          EXPECT_LT(byte, shape.bytes());
          EXPECT_TRUE(places.insert(byte).second) << row << " " << chunk;
        }
      }
    }
  }
}

// Phases of ds_read_b128: 16 lanes {0-3, 12-15, 20-27}, {4-11, 16-19, 28-31}
// and the same 32 lanes on.
TEST(PanelImage, RowReadsAreFreeOfConflicts) {
  const PanelShape shape{64, 64, true, 4};
  for (int set = 0; set < 2; ++set) {
    for (const int half : {0, 32}) {
      std::vector<int> phases[2];
      for (int lane = 0; lane < 32; ++lane) {
        const bool first =
            lane < 4 || (lane >= 12 && lane < 16) || (lane >= 20 && lane < 28);
        const int row = (half + lane) % 16;
        const int chunk = 4 * set + (half + lane) / 16;
        phases[first ? 0 : 1].push_back(LdsByte(shape, row, chunk));
      }
      for (const std::vector<int>& phase : phases) {
        EXPECT_EQ(phase.size(), 16u);
        EXPECT_EQ(Conflict(phase, 16), 1);
      }
    }
  }
}

// ds_read_b64_tr_b16 by the phases of ds_read_b64: 32 lanes each.
TEST(PanelImage, ColumnReadsAreFreeOfConflicts) {
  for (const int mn : {16, 32, 64, 96, 128, 192, 256}) {
    const PanelShape shape{mn, 64, false, 4};
    for (int fragment = 0; fragment < mn / 16; ++fragment) {
      for (int part = 0; part < 2; ++part) {
        for (const int half : {0, 32}) {
          std::vector<int> phase;
          for (int lane = half; lane < half + 32; ++lane) {
            const int k = lane / 16 * 8 + lane % 16 / 4 + part * 4;
            const int column = fragment * 16 + lane % 4 * 4;
            phase.push_back(LdsByte(shape, k, column / 8) + column % 8 * 2);
          }
          EXPECT_EQ(Conflict(phase, 8), 1) << mn << " " << fragment;
        }
      }
    }
  }
}

Element Narrow(MxFormat format) { return {kI8, format}; }

// ds_read_b64_tr_b8, by the same phases.
TEST(PanelImage, ColumnReadsOfBytesAreFreeOfConflicts) {
  for (const int mn : {16, 32, 64, 96, 128, 192, 256}) {
    const PanelShape shape{.mn = mn,
                           .k = 128,
                           .k_contiguous = false,
                           .waves = 4,
                           .element = Narrow(MxFormat::kE4M3)};
    for (int fragment = 0; fragment < mn / 16; ++fragment) {
      for (int part = 0; part < 4; ++part) {
        for (const int half : {0, 32}) {
          std::vector<int> phase;
          for (int lane = half; lane < half + 32; ++lane) {
            const int k =
                lane / 16 * 16 + lane % 16 / 2 + part / 2 * 64 + part % 2 * 8;
            phase.push_back(LdsByte(shape, k, fragment) + lane % 2 * 8);
          }
          EXPECT_EQ(Conflict(phase, 8), 1) << mn << " " << fragment;
        }
      }
    }
  }
}

constexpr MxFormat kFormats[] = {MxFormat::kE4M3, MxFormat::kE2M3,
                                 MxFormat::kE2M1};

TEST(PanelImage, OfNarrowElementsIsAPermutation) {
  for (const MxFormat format : kFormats) {
    for (const int mn : {16, 64, 256}) {
      for (const int k : {128, 256, 512}) {
        for (const bool shuffled : {false, true}) {
          PanelShape shape{.mn = mn, .k = k, .waves = 4};
          shape.element = Narrow(format);
          shape.shuffled = shuffled;
          std::set<int> places;
          for (int row = 0; row < mn; ++row) {
            for (int chunk = 0; chunk < shape.step_row_bytes() / 16; ++chunk) {
              const int byte = LdsByte(shape, row, chunk);
              EXPECT_EQ(byte % 16, 0);
              EXPECT_LT(byte, shape.data_bytes());
              EXPECT_TRUE(places.insert(byte).second) << row << " " << chunk;
            }
          }
        }
      }
    }
  }
}

// The lanes that ds_read_b128 serves in a phase, or ds_read_b64.
bool InPhase(int lane, int bytes, int phase) {
  if (bytes == 8) return lane / 32 == phase;
  const int l = lane % 32;
  const bool first = l < 4 || (l >= 12 && l < 16) || (l >= 20 && l < 28);
  return lane / 32 * 2 + (first ? 0 : 1) == phase;
}

// Lane l reads of row l % 16 the bytes that its group l / 16 takes of a set.
TEST(PanelImage, ReadsOfNarrowElementsAreFreeOfConflicts) {
  for (const MxFormat format : kFormats) {
    for (const int k : {128, 256}) {
      for (const bool shuffled : {false, true}) {
        PanelShape shape{.mn = 64, .k = k, .waves = 4};
        shape.element = Narrow(format);
        shape.shuffled = shuffled;
        const int bits = shape.element.bits();
        const int bytes = bits == 6 ? 8 : 16;
        const int parts = bits * 4 / bytes;
        for (int part = 0; part < parts; ++part) {
          for (int phase = 0; phase < 64 * bytes / 256; ++phase) {
            std::vector<int> lanes;
            for (int lane = 0; lane < 64; ++lane) {
              if (!InPhase(lane, bytes, phase)) continue;
              const int group = lane / 16;
              const int byte = bits == 8 ? part * 64 + group * 16
                                         : group * bits * 4 + part * bytes;
              lanes.push_back(LdsByte(shape, lane % 16, byte / 16) + byte % 16);
            }
            EXPECT_EQ(Conflict(lanes, bytes), 1)
                << bits << " bits, k " << k << ", part " << part;
          }
        }
      }
    }
  }
}

TEST(ScaleImage, EveryScaleHasAPlaceOfItsOwn) {
  for (const ScaleFetch fetch :
       {ScaleFetch::kLinearWords, ScaleFetch::kLinearBytes,
        ScaleFetch::kShuffledBytes, ScaleFetch::kShuffledPairs,
        ScaleFetch::kShuffledWords}) {
    for (const int mn : {32, 64, 256}) {
      const ScaleShape shape{mn, 256, 4, fetch};
      std::set<int> places;
      for (int row = 0; row < mn; ++row) {
        for (int block = 0; block < 8; ++block) {
          const int byte = ScaleLdsByte(shape, row, block);
          EXPECT_LT(byte, shape.bytes());
          EXPECT_TRUE(places.insert(byte).second) << row << " " << block;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot::tile
