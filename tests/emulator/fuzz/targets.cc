#include "tests/emulator/fuzz/targets.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulator/decode.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/interp/interpreter.h"
#include "tests/emulator/msgpack.h"
#include "tests/emulator/program.h"

namespace ingot::emulator::fuzz {
namespace {

constexpr uint64_t kInstructions = 2000;  // a wave
constexpr size_t kGlobalBytes = 4096;

// Aborts: the fuzzer keeps the input.
void Expect(bool promise) {
  if (!promise) std::abort();
}

// A device with one allocation, kept from input to input: making one is slow.
struct Bench {
  Bench() : decoder(ChooseInterpreter()) {
    global = static_cast<uint8_t*>(
        device.memory().Allocate(kGlobalBytes, MemoryMap::Kind::kDevice));
    Expect(global != nullptr);
  }
  Decoder decoder;
  Device device;
  uint8_t* global;
};

Bench& SharedBench() {
  static Bench* const bench = new Bench;
  return *bench;
}

// What the prologue below reads: a buffer resource over the allocation, and
// its address.
std::vector<uint8_t> KernelArguments(const uint8_t* global) {
  std::vector<uint8_t> bytes(128, 0);
  const uint64_t address = reinterpret_cast<uint64_t>(global);
  const uint32_t rest[] = {static_cast<uint32_t>(kGlobalBytes), 0x00027000};
  std::memcpy(&bytes[0], &address, 8);
  std::memcpy(&bytes[8], rest, 8);
  std::memcpy(&bytes[16], &address, 8);
  return bytes;
}

void RunFor(Bench& bench, Program* program, const KernelInfo& kernel,
            const LaunchConfig& config, bool reverse) {
  std::memset(bench.global, 0x11, kGlobalBytes);
  const std::vector<uint8_t> arguments = KernelArguments(bench.global);
  Options options;
  options.threads = 1;
  options.reverse_waves = reverse;
  options.max_instructions = kInstructions;
  const RunResult result = bench.device.Run(
      program, kernel, config, arguments.data(), arguments.size(), options);
  Expect((result.status == RunStatus::kOk) == result.report.empty());
}

// Gives the words that follow something to work on: valid addresses in s[2:3],
// v[2:3] and the buffer s[4:7], offsets of lanes in v1, floats, a NaN.
constexpr uint32_t kPrologue[] = {
    0xc00a0100, 0x00000000,  // s_load_dwordx4 s[4:7], s[0:1], 0x0
    0xc0060080, 0x00000010,  // s_load_dwordx2 s[2:3], s[0:1], 0x10
    0xbefc00c0,              // s_mov_b32 m0, 64
    0x24020082,              // v_lshlrev_b32 v1, 2, v0
    0xbf8cc07f,              // s_waitcnt lgkmcnt(0)
    0x7e040202,              // v_mov_b32 v2, s2
    0x7e060203,              // v_mov_b32 v3, s3
    0x7e0802f2,              // v_mov_b32 v4, 1.0
    0x7e0a02ff, 0x7fc01234,  // v_mov_b32 v5, 0x7fc01234
    0x7e0c02ff, 0x00008001,  // v_mov_b32 v6, 0x8001
    0x7e0e5700,              // v_not_b32 v7, v0
    0xb0080040,              // s_movk_i32 s8, 0x40
    0xbeea01ff, 0x00000055,  // s_mov_b64 vcc, 0x55
    0xbe8900ff, 0xff800000,  // s_mov_b32 s9, 0xff800000
    0xd3d94000, 0x18000104,  // v_accvgpr_write_b32 a0, v4
    0xd3d94001, 0x18000106,  // v_accvgpr_write_b32 a1, v6
};

// A kernel that uses every register there is and lies alone in its object.
KernelInfo FreeKernel(const uint8_t geometry[4]) {
  KernelInfo k;
  k.name = "fuzzed";
  k.lds_bytes = (geometry[1] & 7u) * 256;
  k.scratch_bytes = (geometry[1] >> 3 & 7u) * 16;
  k.kernarg_bytes = 128;
  k.rsrc1 = 63 | uint32_t{geometry[3]} << 12 | (geometry[2] & 3u) << 20;
  k.rsrc2 = 2 << 1 | 1 << 7;  // two user SGPRs, workgroup id x
  k.rsrc3 = 63;
  k.properties = 1 << 3;  // the kernarg segment's address
  return k;
}

}  // namespace

void CodeObjectBytes(const uint8_t* data, size_t size) {
  Bench& bench = SharedBench();
  LoadError error = LoadError::kNone;
  std::string message;
  Program* program = bench.device.Load(data, size, &error, &message);
  Expect((program == nullptr) == (error != LoadError::kNone));
  Expect((program == nullptr) == !message.empty());
  if (program == nullptr) return;
  size_t left = 4;
  for (const KernelInfo& kernel : program->object().kernels) {
    if (left-- == 0) break;
    LaunchConfig config;
    const bool fixed = kernel.reqd_size[0] != 0;
    for (int d = 0; d < 3; ++d)
      config.block[d] = fixed ? kernel.reqd_size[d] : d == 0 ? 64 : 1;
    RunFor(bench, program, kernel, config, false);
  }
  bench.device.Unload(program);
}

void MetadataBytes(const uint8_t* data, size_t size) {
  ParseMsgPack(data, size);
}

void InstructionWords(const uint8_t* data, size_t size) {
  const Decoder& decoder = SharedBench().decoder;
  std::vector<uint32_t> words(size / 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  for (size_t at = 0; at < words.size(); ++at) {
    for (size_t count = 0; count <= std::min<size_t>(5, words.size() - at);
         ++count) {
      // A copy of its own, so that a word read too far is seen.
      const std::vector<uint32_t> left(
          words.begin() + static_cast<std::ptrdiff_t>(at),
          words.begin() + static_cast<std::ptrdiff_t>(at + count));
      Inst inst;
      if (!decoder.Decode(left.data(), count, &inst)) continue;
      Expect(inst.run != nullptr && inst.size >= 4 && inst.size <= 4 * count);
      Expect(!Describe(inst).empty());
    }
  }
}

void KernelWords(const uint8_t* data, size_t size) {
  if (size < 8) return;
  Bench& bench = SharedBench();
  const size_t bytes = sizeof(kPrologue) + (size - 4) / 4 * 4;
  auto object = std::make_unique<CodeObject>();
  if (!object->Reserve(bytes)) return;
  std::memcpy(object->image, kPrologue, sizeof(kPrologue));
  std::memcpy(object->image + sizeof(kPrologue), data + 4,
              bytes - sizeof(kPrologue));
  object->text_end = bytes;
  object->kernels.push_back(FreeKernel(data));
  Program program(std::move(object), &bench.decoder);
  LaunchConfig config;
  config.block[0] = 1 + data[0];
  config.grid[0] = 1 + (data[2] >> 2 & 1u);
  RunFor(bench, &program, program.object().kernels[0], config,
         (data[2] >> 3 & 1u) != 0);
}

}  // namespace ingot::emulator::fuzz
