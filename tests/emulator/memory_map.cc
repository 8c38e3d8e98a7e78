#include "tests/emulator/memory_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace ingot::emulator {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kGap = 16 * kPage;

}  // namespace

MemoryView::MemoryView(std::vector<Interval> intervals)
    : intervals_(std::move(intervals)) {
  std::sort(
      intervals_.begin(), intervals_.end(),
      [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
}

const Interval* MemoryView::Nearest(uint64_t address) const {
  auto it = std::upper_bound(
      intervals_.begin(), intervals_.end(), address,
      [](uint64_t a, const Interval& i) { return a < i.begin; });
  return it == intervals_.begin() ? nullptr : &*--it;
}

const Interval* MemoryView::Find(uint64_t address, uint64_t bytes) const {
  const Interval* i = Nearest(address);
  if (i == nullptr || address >= i->end || i->end - address < bytes)
    return nullptr;
  return i;
}

MemoryMap::~MemoryMap() {
  for (auto& [begin, block] : blocks_) {
    if (block.mapping != nullptr) munmap(block.mapping, block.mapping_bytes);
  }
}

// The allocation ends as close to the upper gap as its alignment allows, so
// that plain host code which overruns it traps as well.
void* MemoryMap::Allocate(size_t bytes, Kind kind) {
  if (bytes == 0 || bytes > (size_t{1} << 40)) return nullptr;
  const size_t body = (bytes + kPage - 1) / kPage * kPage;
  Block block{bytes, kind, nullptr, body + 2 * kGap, nullptr};
  void* mapping = mmap(nullptr, block.mapping_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* base = static_cast<char*>(mapping) + kGap;
  if (mprotect(base, body, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, block.mapping_bytes);
    return nullptr;
  }
  block.mapping = mapping;
  char* pointer = base + (body - bytes) / 256 * 256;
  std::memset(pointer, kFreshByte, bytes);
  if (kind == Kind::kDevice) {
    block.written = std::make_shared<WrittenBytes>(
        reinterpret_cast<uint64_t>(pointer), bytes);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_[reinterpret_cast<uint64_t>(pointer)] = block;
  return pointer;
}

bool MemoryMap::Free(void* pointer) {
  Block block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = blocks_.find(reinterpret_cast<uint64_t>(pointer));
    if (it == blocks_.end() || it->second.mapping == nullptr) return false;
    block = it->second;
    blocks_.erase(it);
  }
  munmap(block.mapping, block.mapping_bytes);
  return true;
}

bool MemoryMap::Register(void* pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t begin = reinterpret_cast<uint64_t>(pointer);
  auto after = blocks_.lower_bound(begin);
  if (after != blocks_.end() && after->first < begin + bytes) return false;
  if (after != blocks_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second.bytes > begin) return false;
  }
  blocks_[begin] = Block{bytes, Kind::kRegistered, nullptr, 0, nullptr};
  return true;
}

bool MemoryMap::Unregister(void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.find(reinterpret_cast<uint64_t>(pointer));
  if (it == blocks_.end() || it->second.kind != Kind::kRegistered) return false;
  blocks_.erase(it);
  return true;
}

uint64_t MemoryMap::bytes_in_use() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  for (const auto& [begin, block] : blocks_) total += block.bytes;
  return total;
}

MemoryMap::Blocks::const_iterator MemoryMap::Around(uint64_t at,
                                                    size_t bytes) const {
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  const uint64_t end = it->first + it->second.bytes;
  return at >= end || end - at < bytes ? blocks_.end() : it;
}

void MemoryMap::MarkWritten(const void* to, size_t bytes) {
  CopyWritten(to, nullptr, bytes);
}

void MemoryMap::CopyWritten(const void* to, const void* from, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t at = reinterpret_cast<uint64_t>(to);
  const auto target = Around(at, bytes);
  if (target == blocks_.end() || target->second.written == nullptr) return;
  const uint64_t source_at = reinterpret_cast<uint64_t>(from);
  const auto source = Around(source_at, bytes);
  if (source == blocks_.end() || source->second.written == nullptr) {
    target->second.written->Mark(at, bytes);
    return;
  }
  source->second.written->FindHostWrites();
  target->second.written->Copy(at, bytes, *source->second.written, source_at);
}

void MemoryMap::ForgetWritten(const void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = blocks_.find(reinterpret_cast<uint64_t>(pointer));
  if (it != blocks_.end() && it->second.written != nullptr)
    it->second.written->Forget();
}

void MemoryMap::FindHostWritesHere() const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [begin, block] : blocks_) {
    if (block.written != nullptr) block.written->FindHostWrites();
  }
}

void MemoryMap::FindHostWrites() const {
  FindHostWritesHere();
  std::vector<const MemoryMap*> included;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    included = included_;
  }
  for (const MemoryMap* other : included) other->FindHostWritesHere();
}

void MemoryMap::Include(const MemoryMap* other) {
  std::lock_guard<std::mutex> lock(mutex_);
  included_.push_back(other);
}

void MemoryMap::Exclude(const MemoryMap* other) {
  std::lock_guard<std::mutex> lock(mutex_);
  included_.erase(std::remove(included_.begin(), included_.end(), other),
                  included_.end());
}

void MemoryMap::AddTo(std::vector<Interval>* intervals) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [begin, block] : blocks_)
    intervals->push_back({begin, begin + block.bytes, block.written});
}

std::shared_ptr<const MemoryView> MemoryMap::View(
    const std::vector<Interval>& extra) const {
  std::vector<Interval> all = extra;
  AddTo(&all);
  std::vector<const MemoryMap*> included;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    included = included_;
  }
  // One lock at a time: peers include each other.
  for (const MemoryMap* other : included) other->AddTo(&all);
  return std::make_shared<MemoryView>(std::move(all));
}

}  // namespace ingot::emulator
