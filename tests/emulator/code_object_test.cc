// The loader: what it reads, and that damaged objects are refused, never read
// out of bounds.
#include "tests/emulator/code_object.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ingot::emulator {
namespace {

std::string Bytes(const std::string& file) {
  std::ifstream in("tests/data/emulator/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Loads a copy of exactly the given length, so that a checker of memory sees
// every byte too far.
std::unique_ptr<CodeObject> Load(const std::string& bytes, LoadError* error) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  std::string message;
  auto object = LoadCodeObject(copy.get(), bytes.size(), error, &message);
  EXPECT_EQ(object == nullptr, !message.empty());
  return object;
}

TEST(CodeObject, ReadsKernelsAndMetadata) {
  LoadError error;
  const auto object = Load(Bytes("launch.hsaco"), &error);
  ASSERT_NE(object, nullptr);
  const KernelInfo* where = object->FindKernel("where");
  ASSERT_NE(where, nullptr);
  EXPECT_EQ(where->kernarg_bytes, 48u);
  EXPECT_EQ(where->max_threads, 12u);
  EXPECT_EQ(where->reqd_size[1], 2u);
  ASSERT_EQ(where->args.size(), 8u);
  EXPECT_EQ(where->args[1].kind, "by_value");
  EXPECT_EQ(where->args[1].offset, 8u);
  EXPECT_TRUE(where->args[7].hidden());
  const KernelInfo* preloaded = object->FindKernel("preloaded");
  ASSERT_NE(preloaded, nullptr);
  EXPECT_EQ(preloaded->preload & 0x7f, 3);
  EXPECT_EQ(object->FindKernel("nothing"), nullptr);
}

TEST(CodeObject, ElfSizeComesFromTheTables) {
  const std::string bytes = Bytes("launch.hsaco");
  EXPECT_EQ(ElfSize(bytes.data()), bytes.size());
}

// With nothing readable behind the page, whatever the tables say.
TEST(CodeObject, ElfSizeStaysInReadableMemory) {
  const std::string bytes = Bytes("launch.hsaco");
  constexpr size_t kPage = 4096;
  ASSERT_LE(bytes.size(), kPage);
  void* pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(pages) + kPage, kPage, PROT_NONE), 0);
  std::memcpy(pages, bytes.data(), bytes.size());
  auto* header = static_cast<Elf64_Ehdr*>(pages);
  header->e_shoff = uint64_t{1} << 40;
  EXPECT_EQ(ElfSize(pages), kPage);
  header->e_phoff = ~uint64_t{0} - 8;
  EXPECT_EQ(ElfSize(pages), kPage);
  LoadError error;
  std::string message;
  EXPECT_EQ(LoadCodeObject(pages, ElfSize(pages), &error, &message), nullptr);
  munmap(pages, 2 * kPage);
}

// The program header number `n` of an object.
Elf64_Phdr* Segment(std::string* bytes, size_t n) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes->data(), sizeof(header));
  return reinterpret_cast<Elf64_Phdr*>(&(*bytes)[header.e_phoff]) + n;
}

TEST(CodeObject, SegmentsComeInOrder) {
  std::string bytes = Bytes("launch.hsaco");
  std::vector<Elf64_Phdr*> loads;
  for (size_t n = 0; Segment(&bytes, n)->p_type != PT_DYNAMIC; ++n) {
    if (Segment(&bytes, n)->p_type == PT_LOAD)
      loads.push_back(Segment(&bytes, n));
  }
  ASSERT_GE(loads.size(), 2u);
  LoadError error;
  EXPECT_NE(Load(bytes, &error), nullptr);
  loads[1]->p_vaddr = loads[0]->p_vaddr;
  EXPECT_EQ(Load(bytes, &error), nullptr);
  EXPECT_EQ(error, LoadError::kInvalidImage);
}

// An image of a gigabyte costs only what is written.
TEST(CodeObject, HugeImagesAreCheapOrRefused) {
  std::string bytes = Bytes("launch.hsaco");
  LoadError error;
  size_t last = 0;
  for (size_t n = 0; Segment(&bytes, n)->p_type != PT_DYNAMIC; ++n) {
    if (Segment(&bytes, n)->p_type == PT_LOAD) last = n;
  }
  Segment(&bytes, last)->p_memsz = uint64_t{1} << 29;
  const auto object = Load(bytes, &error);
  ASSERT_NE(object, nullptr);
  EXPECT_GT(object->image_size, size_t{1} << 29);
  Segment(&bytes, last)->p_memsz = uint64_t{1} << 40;
  EXPECT_EQ(Load(bytes, &error), nullptr);
}

TEST(CodeObject, EveryTruncationIsRefusedOrWhole) {
  const std::string bytes = Bytes("launch.hsaco");
  const auto whole = [&] {
    LoadError error;
    return Load(bytes, &error);
  }();
  ASSERT_NE(whole, nullptr);
  int refused = 0;
  for (size_t n = 0; n < bytes.size(); ++n) {
    LoadError error = LoadError::kNone;
    const auto object = Load(bytes.substr(0, n), &error);
    if (object == nullptr) {
      EXPECT_NE(error, LoadError::kNone);
      ++refused;
    } else {
      EXPECT_EQ(object->kernels.size(), whole->kernels.size());
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(CodeObject, DamagedBytesNeverCrash) {
  const std::string bytes = Bytes("launch.hsaco");
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int n = 0; n < 4; ++n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    LoadError error;
    refused += Load(damaged, &error) == nullptr;
  }
  EXPECT_GT(refused, 0);
}

TEST(CodeObject, OtherMachinesAreRefused) {
  std::string bytes = Bytes("launch.hsaco");
  LoadError error;
  bytes[18] = 62;  // x86-64
  EXPECT_EQ(Load(bytes, &error), nullptr);
  EXPECT_EQ(error, LoadError::kWrongTarget);
}

}  // namespace
}  // namespace ingot::emulator
