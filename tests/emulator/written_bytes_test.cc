#include "tests/emulator/written_bytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/emulator/memory_map.h"

namespace ingot::emulator {
namespace {

class Written : public testing::Test {
 protected:
  static constexpr size_t kBytes = 300;
  Written() : memory_(kBytes, kFreshByte) {}
  uint64_t at(size_t n) {
    return reinterpret_cast<uint64_t>(memory_.data()) + n;
  }
  bool Is(const WrittenBytes& w, size_t n) {
    const uint8_t* known = w.At(at(n));
    return known == nullptr || *known != 0;
  }

  std::vector<uint8_t> memory_;
};

TEST_F(Written, MarksAreExact) {
  WrittenBytes w(at(0), kBytes);
  w.Mark(at(10), 3);
  w.FindHostWrites();
  EXPECT_FALSE(Is(w, 9));
  EXPECT_TRUE(Is(w, 10));
  EXPECT_TRUE(Is(w, 12));
  EXPECT_FALSE(Is(w, 13));
  EXPECT_FALSE(w.whole());
  w.Mark(at(0), kBytes);
  EXPECT_TRUE(w.whole());
  w.Forget();
  EXPECT_FALSE(w.whole());
  EXPECT_FALSE(Is(w, 10));
}

// A line that shows another byte was written by the host; the byte may equal
// the fill.
TEST_F(Written, PlainWritesAreFoundByTheLine) {
  WrittenBytes w(at(0), kBytes);
  memory_[70] = 1;
  EXPECT_FALSE(Is(w, 70));
  w.FindHostWrites();
  EXPECT_FALSE(Is(w, 63));
  EXPECT_TRUE(Is(w, 64));
  EXPECT_TRUE(Is(w, 127));
  EXPECT_FALSE(Is(w, 128));
}

// What a kernel stored says nothing of its neighbours.
TEST_F(Written, MarkedBytesAreNoEvidence) {
  WrittenBytes w(at(0), kBytes);
  memory_[70] = 1;
  w.Mark(at(70), 1);
  w.FindHostWrites();
  EXPECT_TRUE(Is(w, 70));
  EXPECT_FALSE(Is(w, 71));
  memory_[90] = 1;
  w.FindHostWrites();
  EXPECT_TRUE(Is(w, 71));
}

TEST_F(Written, AllLinesMakeItWhole) {
  WrittenBytes w(at(0), kBytes);
  for (size_t line = 0; line < kBytes; line += 64) memory_[line] = 0;
  w.FindHostWrites();
  EXPECT_TRUE(w.whole());
}

TEST_F(Written, CopiesTakeOverWhatTheSourceHas) {
  WrittenBytes from(at(0), 100), to(at(100), 200);
  from.Mark(at(20), 10);
  to.Mark(at(100), 60);
  to.Copy(at(110), 30, from, at(10));
  EXPECT_TRUE(Is(to, 109));
  EXPECT_FALSE(Is(to, 110));
  EXPECT_TRUE(Is(to, 120));
  EXPECT_TRUE(Is(to, 129));
  EXPECT_FALSE(Is(to, 130));
  EXPECT_TRUE(Is(to, 140));
}

TEST(WrittenOfMaps, OnlyDeviceMemoryStartsUnwritten) {
  MemoryMap map;
  void* device = map.Allocate(128, MemoryMap::Kind::kDevice);
  void* managed = map.Allocate(128, MemoryMap::Kind::kManaged);
  void* host = map.Allocate(128, MemoryMap::Kind::kHost);
  const auto written = [&map](void* p) {
    const auto view = map.View({});
    const Interval* i = view->Find(reinterpret_cast<uint64_t>(p), 1);
    return i->written == nullptr || i->written->whole();
  };
  EXPECT_FALSE(written(device));
  EXPECT_TRUE(written(managed));
  EXPECT_TRUE(written(host));
  map.CopyWritten(device, host, 128);
  EXPECT_TRUE(written(device));
  map.ForgetWritten(device);
  EXPECT_FALSE(written(device));
  // From memory that is not written either.
  void* other = map.Allocate(128, MemoryMap::Kind::kDevice);
  map.CopyWritten(device, other, 128);
  EXPECT_FALSE(written(device));
  map.MarkWritten(device, 128);
  EXPECT_TRUE(written(device));
}

}  // namespace
}  // namespace ingot::emulator
