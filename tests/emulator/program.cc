#include "tests/emulator/program.h"

#include <cstring>

namespace ingot::emulator {

Program::Program(std::unique_ptr<CodeObject> object, const Decoder* decoder)
    : object_(std::move(object)),
      decoder_(decoder),
      base_(reinterpret_cast<uint64_t>(object_->image)),
      text_(base_ + object_->text_begin),
      slots_count_((object_->text_end - object_->text_begin) / 4),
      slots_(new std::atomic<const Inst*>[slots_count_]()) {}

const Inst* Program::DecodeAt(uint64_t slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const Inst* done = slots_[slot].load(std::memory_order_relaxed);
      done != nullptr)
    return done;
  uint32_t words[5] = {};
  const size_t count = std::min<size_t>(5, slots_count_ - slot);
  std::memcpy(words, reinterpret_cast<const void*>(text_ + slot * 4),
              count * 4);
  Inst inst;
  if (!decoder_->Decode(words, count, &inst)) return nullptr;
  inst.index = static_cast<uint32_t>(decoded_.size());
  const Inst* kept = &decoded_.emplace_back(inst);
  slots_[slot].store(kept, std::memory_order_release);
  return kept;
}

uint32_t Program::WordAt(uint64_t pc) const {
  if (pc < text_ || (pc - text_) / 4 >= slots_count_) return 0;
  uint32_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(pc & ~uint64_t{3}), 4);
  return word;
}

std::string Program::SymbolAt(uint64_t pc) const {
  const uint64_t offset = pc - base_;
  for (const Symbol& s : object_->symbols) {
    if (s.function && offset >= s.offset && offset < s.offset + s.size)
      return s.name;
  }
  return {};
}

}  // namespace ingot::emulator
