// Which bytes of an address space were touched.
#ifndef TESTS_EMULATOR_PROFILE_BYTE_SET_H_
#define TESTS_EMULATOR_PROFILE_BYTE_SET_H_

#include <array>
#include <cstdint>
#include <unordered_map>

namespace ingot::profile {

// A bit a byte, in pages of 4 KB made when first touched.
class ByteSet {
 public:
  ByteSet() = default;
  // A copy's last_ would point into the original.
  ByteSet(ByteSet&&) = default;
  ByteSet& operator=(ByteSet&&) = default;

  // Returns how many 128-byte lines hold a byte of the set that held none.
  int Add(uint64_t address, uint32_t bytes);
  void Merge(const ByteSet& other);
  void Clear();

  uint64_t bytes() const { return bytes_; }
  // Of the set in [begin, end).
  uint64_t BytesIn(uint64_t begin, uint64_t end) const;

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint64_t kWords = kPageBytes / 64;
  using Page = std::array<uint64_t, kWords>;

  int AddBits(Page* page, uint64_t word, uint64_t bits);
  Page* PageAt(uint64_t number);

  std::unordered_map<uint64_t, Page> pages_;
  uint64_t last_number_ = ~uint64_t{0};
  Page* last_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace ingot::profile

#endif  // TESTS_EMULATOR_PROFILE_BYTE_SET_H_
