#include "bench/client/launches.h"

#include <dlfcn.h>

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/client/calls.h"
#include "bench/process.h"
#include "bench/samples.h"

namespace ingot::bench {
namespace {

constexpr int kLaunches = 1000;  // of a run

using LaunchKernel = int (*)(void*, unsigned, unsigned, unsigned, unsigned,
                             unsigned, unsigned, unsigned, void*, void**,
                             void**);

template <typename Function>
Function Find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) Die(absl::StrCat(INGOT_NULL_HIP, " has no ", name));
  return reinterpret_cast<Function>(found);
}

}  // namespace

void ReportLaunches(const std::string& socket, int runs, Report& report) {
  void* hip = dlopen(INGOT_NULL_HIP, RTLD_NOW);
  if (hip == nullptr) Die(dlerror());
  const auto launch_kernel = Find<LaunchKernel>(hip, "hipModuleLaunchKernel");
  const auto launches = Find<unsigned long (*)()>(hip, "null_hip_launches");

  constexpr int64_t kN = 4096;
  Client client = Connect(socket, INGOT_NULL_HIP);
  const RmsnormSpecC spec(kN);
  const Prepared prepared(Prepare(client, spec, 0));
  alignas(16) static char memory[16];
  const int64_t dims[2] = {32, kN};
  void* const operands[3] = {memory, memory, memory};
  ingot_launch_args args = {};
  args.size = sizeof(args);
  args.dims = dims;
  args.dim_count = 2;
  args.operands = operands;
  args.operand_count = 3;

  std::vector<double> ours;
  std::vector<double> bare;
  for (int run = 0; run < runs; ++run) {
    const unsigned long before = launches();
    ours.push_back(Seconds([&] {
      for (int i = 0; i < kLaunches; ++i) {
        Expect(prepared.Launch(nullptr, args), "ingot_launch");
      }
    }));
    if (launches() - before != kLaunches) Die("launches were lost");
    bare.push_back(Seconds([&] {
      for (int i = 0; i < kLaunches; ++i) {
        launch_kernel(memory, 32, 1, 1, 256, 1, 1, 0, nullptr, nullptr,
                      nullptr);
      }
    }));
  }
  const double scale = 1e9 / kLaunches;
  const double call = Median(bare) * scale;
  report.Section(absl::StrCat("ingot_launch, median of ", runs));
  report.Add({"prepared launch, beyond HIP's call", Median(ours) * scale - call,
              "ns", AtMost(1000)});
  report.Add({"HIP's call, which does nothing", call, "ns", std::nullopt});
}

}  // namespace ingot::bench
