#include "tests/emulator/emulator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "tests/emulator/interp/interpreter.h"
#include "tests/emulator/launch.h"

namespace ingot::emulator {
namespace {

constexpr uint32_t kMaxLds = 163840;
// Of a work-item: a wave's share is counted in 13 bits of KiB.
constexpr uint32_t kMaxScratch = 0x1fff * 1024 / 64;

bool EnvFlag(const char* name, bool otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == 0 ? otherwise
                                         : std::strcmp(value, "0") != 0;
}

const Decoder& SharedDecoder() {
  static const Decoder decoder(ChooseInterpreter());
  return decoder;
}

RunResult Invalid(std::string why) {
  RunResult r;
  r.status = RunStatus::kInvalidLaunch;
  r.report = std::move(why);
  return r;
}

// Empty when the geometry fits kernel and device.
std::string CheckGeometry(const KernelInfo& k, const LaunchConfig& c) {
  uint64_t threads = 1, items = 1;
  for (int d = 0; d < 3; ++d) {
    if (c.block[d] == 0 || c.grid[d] == 0)
      return "a grid or block dimension is 0";
    if (c.block[d] > 1024) return "a block dimension exceeds 1024";
    threads *= c.block[d];
    if (uint64_t{c.grid[d]} * c.block[d] > 0xffffffffu)
      return "a grid dimension exceeds 2^32 work-items";
    if (k.reqd_size[0] != 0 && k.reqd_size[d] != c.block[d]) {
      return "the kernel requires another workgroup size";
    }
    items = std::min<uint64_t>(items * c.grid[d], uint64_t{1} << 40);
  }
  if (threads > std::min<uint32_t>(k.max_threads, 1024)) {
    return "the workgroup is larger than the kernel's limit of " +
           std::to_string(k.max_threads);
  }
  if (items > (uint64_t{1} << 34))
    return "more workgroups than can be emulated";
  if (uint64_t{k.lds_bytes} + c.dynamic_lds > kMaxLds)
    return "more LDS than a workgroup can have";
  if (k.scratch_bytes > kMaxScratch)
    return "more scratch than a work-item can have";
  const uint64_t groups = uint64_t{c.grid[0]} * c.grid[1] * c.grid[2];
  for (const uint64_t group : c.groups) {
    if (group >= groups) return "a chosen workgroup lies outside the grid";
  }
  return {};
}

class HiddenArguments {
 public:
  HiddenArguments(Launch* launch, uint32_t dynamic_lds)
      : l_(*launch), lds_(dynamic_lds) {}
  void Fill() {
    for (const KernelArg& a : l_.kernel->args) {
      if (!a.hidden()) continue;
      const uint64_t v = Value(a.kind);
      std::memcpy(&l_.kernarg[a.offset], &v,
                  std::min<size_t>(a.size, sizeof(v)));
    }
  }

 private:
  uint64_t Value(const std::string& kind) const {
    static constexpr const char* kAxis[] = {"x", "y", "z"};
    for (int d = 0; d < 3; ++d) {
      if (kind == std::string("hidden_block_count_") + kAxis[d])
        return l_.grid[d];
      if (kind == std::string("hidden_group_size_") + kAxis[d])
        return l_.block[d];
    }
    if (kind == "hidden_grid_dims")
      return l_.grid[2] > 1 ? 3 : l_.grid[1] > 1 ? 2 : 1;
    if (kind == "hidden_private_base") return kPrivateAperture >> 32;
    if (kind == "hidden_shared_base") return kSharedAperture >> 32;
    if (kind == "hidden_dynamic_lds_size") return lds_;
    if (kind == "hidden_queue_ptr")
      return reinterpret_cast<uint64_t>(l_.packet);
    return 0;  // remainders, offsets and services that are not there
  }

  Launch& l_;
  uint32_t lds_;
};

// The fields of the dispatch packet that kernels read.
void FillPacket(Launch* launch) {
  auto put = [launch](size_t at, auto value) {
    std::memcpy(launch->packet + at, &value, sizeof(value));
  };
  put(2, uint16_t{3});
  for (size_t d = 0; d < 3; ++d) {
    put(4 + 2 * d, static_cast<uint16_t>(launch->block[d]));
    put(12 + 4 * d, launch->grid[d] * launch->block[d]);
  }
  put(24, launch->kernel->scratch_bytes);
  put(28, launch->lds_bytes);
  put(40, launch->kernarg_address);
}

}  // namespace

Options Options::FromEnvironment() {
  Options o;
  if (const char* threads = std::getenv("INGOT_EMULATOR_THREADS");
      threads != nullptr) {
    o.threads = std::max(0, std::atoi(threads));
  }
  for (const CheckName& check : kChecks) {
    const std::string name = std::string("INGOT_EMULATOR_CHECK_") + check.name;
    o.*check.enabled = EnvFlag(name.c_str(), true);
  }
  o.reverse_waves = EnvFlag("INGOT_EMULATOR_REVERSE_WAVES", false);
  if (const char* limit = std::getenv("INGOT_EMULATOR_MAX_INSTRUCTIONS");
      limit != nullptr) {
    o.max_instructions = std::strtoull(limit, nullptr, 10);
  }
  return o;
}

uint64_t Statistics::total() const {
  uint64_t sum = 0;
  for (const uint64_t n : executed) sum += n;
  return sum;
}

void Statistics::Add(const Statistics& other) {
  for (int c = 0; c < static_cast<int>(OpClass::kCount); ++c) {
    executed[c] += other.executed[c];
  }
  waves += other.waves;
  clipped_loads += other.clipped_loads;
  clipped_stores += other.clipped_stores;
  misaligned_loads += other.misaligned_loads;
  misaligned_stores += other.misaligned_stores;
}

struct Device::State {
  MemoryMap memory;
  std::mutex mutex;  // guards programs and serialises launches
  std::vector<std::unique_ptr<Program>> programs;
};

Device::Device() : state_(std::make_unique<State>()) {}
Device::~Device() = default;

MemoryMap& Device::memory() { return state_->memory; }

Program* Device::Load(const void* code_object, size_t size, LoadError* error,
                      std::string* message) {
  std::unique_ptr<CodeObject> object =
      LoadCodeObject(code_object, size, error, message);
  if (object == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->programs
      .emplace_back(
          std::make_unique<Program>(std::move(object), &SharedDecoder()))
      .get();
}

void Device::Unload(Program* program) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto& all = state_->programs;
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [program](const auto& p) { return p.get() == program; }),
      all.end());
}

RunResult Device::Run(Program* program, const KernelInfo& kernel,
                      const LaunchConfig& config, const void* kernarg,
                      size_t kernarg_bytes, const Options& options) {
  std::string why = CheckGeometry(kernel, config);
  if (!why.empty()) return Invalid(std::move(why));
  std::lock_guard<std::mutex> lock(state_->mutex);
  Launch launch;
  launch.program = program;
  launch.kernel = &kernel;
  launch.isa = &ChooseInterpreter();
  launch.options = options;
  launch.groups = config.groups;
  launch.watchers = config.watchers;
  std::copy_n(config.grid, 3, launch.grid);
  std::copy_n(config.block, 3, launch.block);
  launch.lds_bytes = kernel.lds_bytes + config.dynamic_lds;
  // Runtimes hand out kernarg memory in units of cache lines, and compilers
  // rely on it: seven dwords are loaded as eight.
  launch.kernarg.assign(
      (std::max<size_t>(kernel.kernarg_bytes, 1) + 63) / 64 * 64, 0);
  std::memcpy(launch.kernarg.data(), kernarg,
              std::min(kernarg_bytes, launch.kernarg.size()));
  launch.kernarg_address = reinterpret_cast<uint64_t>(launch.kernarg.data());
  HiddenArguments(&launch, config.dynamic_lds).Fill();
  FillPacket(&launch);
  launch.entry = program->base() + kernel.entry;
  // Kernels that have arguments preloaded start with 256 bytes that load them
  // the old way; hardware that preloads enters behind those.
  if ((kernel.preload & 0x7f) != 0) launch.entry += 256;
  const uint64_t packet = reinterpret_cast<uint64_t>(launch.packet);
  if (options.check_undefined) state_->memory.FindHostWrites();
  launch.memory = state_->memory.View(
      {{launch.kernarg_address, launch.kernarg_address + launch.kernarg.size()},
       {packet, packet + sizeof(launch.packet)},
       {program->base(), program->base() + program->object().image_size}});
  return Execute(launch);
}

}  // namespace ingot::emulator
