#include "tests/emulator/profile/lds_banks.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ingot::profile {
namespace {

using emulator::Access;
using emulator::AccessList;
using emulator::Space;

// One round: an access a lane at most.
using Round = std::array<const Access*, emulator::kLanes>;

std::vector<Round> RoundsOf(const AccessList& accesses) {
  std::vector<Round> rounds;
  std::array<size_t, emulator::kLanes> seen{};
  for (const Access& access : accesses) {
    if (access.space != Space::kLds) continue;
    const int lane = std::max<int>(access.lane, 0);
    const size_t round = seen[lane]++;
    if (round == rounds.size()) rounds.push_back(Round{});
    rounds[round][lane] = &access;
  }
  return rounds;
}

// Words wanted of each bank in one phase.
class Phase {
 public:
  Phase(const LdsPhases& phases, BankUse use) : phases_(phases), use_(use) {}

  void Add(const Access& access) {
    const uint64_t end = access.address + access.bytes;
    for (uint64_t word = access.address / kLdsWordBytes;
         word * kLdsWordBytes < end; ++word) {
      AddWord(static_cast<uint32_t>(word));
    }
  }
  int most() const { return most_; }

 private:
  void AddWord(uint32_t word) {
    const uint32_t bank = word % static_cast<uint32_t>(phases_.banks);
    uint32_t* const words = words_[bank].data();
    uint16_t& count = count_[bank];
    if (use_ != BankUse::kAtomic &&
        std::find(words, words + count, word) != words + count) {
      return;
    }
    if (count == kMost) return;
    words[count++] = word;
    most_ = std::max<int>(most_, count);
  }

  // Half a wave of five words each, when dwords are not aligned.
  static constexpr int kMost = 5 * emulator::kLanes / 2;

  const LdsPhases& phases_;
  BankUse use_;
  int most_ = 0;
  std::array<uint16_t, 64> count_{};
  std::array<std::array<uint32_t, kMost>, 64> words_;
};

void AddRound(const Round& round, BankUse use, BankCost* cost) {
  int bytes = 0;
  for (const Access* access : round) {
    if (access != nullptr) bytes = std::max<int>(bytes, access->bytes);
  }
  const LdsPhases& phases = PhasesOf(use != BankUse::kRead, bytes);
  const int words = (bytes + kLdsWordBytes - 1) / kLdsWordBytes;
  const int lanes = emulator::kLanes / phases.phases;
  const int least = (words * lanes + phases.banks - 1) / phases.banks;
  for (int n = 0; n < phases.phases; ++n) {
    Phase phase(phases, use);
    for (int lane = 0; lane < emulator::kLanes; ++lane) {
      if (round[lane] != nullptr && phases.phase_of[lane] == n) {
        phase.Add(*round[lane]);
      }
    }
    const int clocks = std::max(phase.most(), least);
    cost->clocks += clocks;
    cost->least += least;
    cost->degree = std::max(cost->degree, static_cast<double>(clocks) / least);
  }
}

}  // namespace

BankCost CostOf(const AccessList& accesses, BankUse use) {
  BankCost cost;
  for (const Round& round : RoundsOf(accesses)) AddRound(round, use, &cost);
  return cost;
}

BankCost CostOfExchange() { return {kReadB32.phases, kReadB32.phases, 1}; }

}  // namespace ingot::profile
