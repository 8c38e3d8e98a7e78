#include "tests/emulator/profile/published_kernels.h"

#include <cmath>
#include <utility>

namespace ingot::profile {
namespace {

constexpr double kLane16 = 64 * 16;  // bytes of an access of 16 a lane

// Writes the instructions of one wave.
class WaveWriter {
 public:
  explicit WaveWriter(Trace* trace)
      : trace_(*trace), wave_(trace->waves.emplace_back()) {}

  void Matrix(double clocks) {
    Put({.cls = Class::kMfma, .unit_clocks = clocks});
  }
  void Vector() { Put({.cls = Class::kValu, .unit_clocks = kValuClocks}); }
  void Scalar() { Put({.cls = Class::kSalu, .unit_clocks = kSaluClocks}); }
  void LdsRead() {
    Put({.cls = Class::kLds, .lds_clocks = 4, .counts_lgkm = true});
  }
  void Dma() {
    Put({.cls = Class::kLdsDma,
         .lds_clocks = 8,
         .vmem_clocks = kLane16 / kL1BytesPerClock,
         .l2_bytes = kLane16,
         .counts_vm = true});
  }
  void Memory() {  // a load or a store
    Put({.cls = Class::kVmem,
         .vmem_clocks = kLane16 / kL1BytesPerClock,
         .l2_bytes = kLane16,
         .counts_vm = true});
  }
  void Constants() { Put({.cls = Class::kSmem, .counts_lgkm = true}); }
  void Wait(int vm, int lgkm = kMostLgkm) {
    Put({.cls = Class::kWait, .waits = {.vm = vm, .lgkm = lgkm}});
  }
  void Barrier() { Put({.cls = Class::kBarrier}); }
  void Priority(int priority) {
    Put({.cls = Class::kSalu,
         .unit_clocks = kSaluClocks,
         .priority = priority});
  }

 private:
  void Put(const Step& step) {
    trace_.steps.push_back(step);
    wave_.push_back(static_cast<uint32_t>(trace_.steps.size() - 1));
  }

  Trace& trace_;
  std::vector<uint32_t>& wave_;
};

// Before any load: arguments, addresses.
void Enter(WaveWriter& w) {
  w.Constants();
  w.Wait(kMostVm, 0);
  for (int i = 0; i < 60; ++i) w.Vector();
}

// 16-bit results of a wave, 16 bytes a lane a store, with what converts them.
void Leave(WaveWriter& w, double bytes) {
  w.Wait(0);
  for (int i = 0; i < bytes / kLane16; ++i) {
    for (int j = 0; j < 14; ++j) w.Vector();
    w.Memory();
  }
}

// [5.3]: 256x256, a wave a SIMD. An iteration is 256 MFMAs of 16 clocks in
// whatever type (128 KB of operands), 80 LDS reads, 32 transfers, 4 barriers.
Trace Interleaved(double iterations) {
  Trace trace;
  for (int wave = 0; wave < 4; ++wave) {
    WaveWriter w(&trace);
    Enter(w);
    for (int i = 0; i < 32; ++i) w.Dma();
    w.Wait(16);
    w.Barrier();
    for (int i = 0; i < iterations; ++i) {
      for (int mfma = 0; mfma < 256; ++mfma) {
        w.Matrix(16);
        if (mfma % 3 == 0 && mfma < 240) w.LdsRead();
        if (mfma % 8 == 0) w.Dma(), w.Scalar();
        if (mfma % 64 == 63) w.Wait(12, 0), w.Barrier();
      }
      for (int s = 0; s < 30; ++s) w.Scalar();
    }
    Leave(w, 256 * 256 * 2 / 4);
  }
  return trace;
}

// [5.2]: 256x256, two waves a SIMD that take turns. A step is four clusters of
// `matrix` MFMAs of `clocks`, 512 clocks of the SIMD for its two waves.
Trace PingPong(double steps, int matrix, double clocks) {
  constexpr int kReads[4] = {12, 4, 8, 0};
  Trace trace;
  for (int wave = 0; wave < 8; ++wave) {
    WaveWriter w(&trace);
    const bool second = wave >= 4;
    Enter(w);
    for (int i = 0; i < 12; ++i) w.Dma();
    w.Wait(4);
    w.Barrier();
    if (second) w.Barrier();
    for (int step = 0; step < steps; ++step) {
      for (int cluster = 0; cluster < 4; ++cluster) {
        for (int r = 0; r < kReads[cluster]; ++r) w.LdsRead();
        w.Dma(), w.Scalar(), w.Dma(), w.Scalar();
        if (cluster != 2) w.Wait(8);
        w.Barrier();
        w.Wait(kMostVm, 0);
        w.Priority(1);
        for (int i = 0; i < matrix; ++i) w.Matrix(clocks);
        w.Priority(0);
        w.Barrier();
      }
    }
    if (!second) w.Barrier();
    Leave(w, 256 * 256 * 2 / 8);
  }
  return trace;
}

// [5.1, the ladder for fp8]: the steps below ping-pong. Eight waves, two
// stages; a step's transfers are issued before it and waited for at its end.
Trace DoubleBuffered(double steps, int tile) {
  const int fragments_m = tile / 2 / 16, fragments_n = tile / 4 / 16;
  Trace trace;
  for (int wave = 0; wave < 8; ++wave) {
    WaveWriter w(&trace);
    Enter(w);
    const int pieces = 2 * tile * 128 / 8 / static_cast<int>(kLane16);
    for (int i = 0; i < pieces; ++i) w.Dma();
    w.Wait(0);
    w.Barrier();
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < pieces; ++i) w.Dma(), w.Scalar();
      for (int i = 0; i < 2 * (fragments_m + fragments_n); ++i) w.LdsRead();
      w.Wait(kMostVm, 0);
      for (int i = 0; i < fragments_m * fragments_n; ++i) w.Matrix(32);
      w.Wait(0);
      w.Barrier();
    }
    Leave(w, tile * tile * 2 / 8);
  }
  return trace;
}

// [5.5]: tiles of few rows and 64 columns whose four waves share out K; each
// keeps a ring of three steps of `pieces` KB in flight.
Trace Skinny(double bytes_of_group, int pieces, int matrix, double clocks) {
  const int steps =
      static_cast<int>(std::ceil(bytes_of_group / 4 / (pieces * kLane16)));
  Trace trace;
  for (int wave = 0; wave < 4; ++wave) {
    WaveWriter w(&trace);
    Enter(w);
    for (int i = 0; i < 3 * pieces; ++i) w.Dma();
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < pieces && step + 3 < steps; ++i) w.Dma(), w.Scalar();
      w.Wait(step + 3 < steps ? 3 * pieces : 0);
      for (int i = 0; i < pieces; ++i) w.LdsRead();
      w.Wait(kMostVm, 0);
      for (int i = 0; i < matrix; ++i) w.Matrix(clocks);
    }
    w.Barrier();
    Leave(w, kLane16);
  }
  return trace;
}

double Tiles(double m, double n) {
  return std::ceil(m / 256) * std::ceil(n / 256);
}

double MicrosecondsAt(double m, double n, double k, double tflops) {
  return 2 * m * n * k / tflops * 1e-6;
}

// Operands of `bytes` an element, results of two.
double Traffic(double m, double n, double k, double bytes) {
  return (m * k + n * k) * bytes + m * n * 2;
}

struct Large {
  const char* kernel;
  double m, n, k;
  double tflops;
};

void AddLarge(std::vector<PublishedTiming>* all) {
  for (const Large& p : {Large{"AITER bf16", 8192, 8192, 8192, 1597},
                         Large{"AITER bf16", 4096, 8192, 28672, 1543},
                         Large{"AITER bf16", 1024, 16384, 26624, 1497}}) {
    all->push_back({p.kernel, "5.1", p.m, p.n, p.k,
                    MicrosecondsAt(p.m, p.n, p.k, p.tflops),
                    Interleaved(p.k / 128), uint64_t(Tiles(p.m, p.n)), 1,
                    Traffic(p.m, p.n, p.k, 2)});
    all->back().trace.width = MatrixWidth::k16;
  }
  for (const Large& p : {Large{"HipKittens bf16", 4096, 4096, 4096, 1413},
                         Large{"HipKittens bf16", 8192, 8192, 8192, 1610},
                         Large{"HipKittens bf16", 16384, 16384, 16384, 1571}}) {
    all->push_back({p.kernel, "5.1", p.m, p.n, p.k,
                    MicrosecondsAt(p.m, p.n, p.k, p.tflops),
                    PingPong(p.k / 64, 16, 16), uint64_t(Tiles(p.m, p.n)), 1,
                    Traffic(p.m, p.n, p.k, 2)});
    all->back().trace.width = MatrixWidth::k16;
  }
  for (const Large& p : {Large{"HipKittens fp8", 4096, 4096, 4096, 2741},
                         Large{"HipKittens fp8", 8192, 8192, 8192, 3327},
                         Large{"HipKittens fp8", 16384, 16384, 16384, 3378}}) {
    all->push_back({p.kernel, "5.1", p.m, p.n, p.k,
                    MicrosecondsAt(p.m, p.n, p.k, p.tflops),
                    PingPong(p.k / 128, 8, 32), uint64_t(Tiles(p.m, p.n)), 1,
                    Traffic(p.m, p.n, p.k, 1)});
    all->back().trace.width = MatrixWidth::k8;
  }
  for (const Large& p : {Large{"AITER mxfp4", 8192, 8192, 8192, 5096},
                         Large{"AITER mxfp4", 8192, 8192, 16384, 5520},
                         Large{"AITER mxfp4", 16384, 16384, 16384, 5590},
                         Large{"AITER mxfp4", 16384, 8192, 28672, 5806},
                         Large{"AITER mxfp4", 1024, 16384, 53248, 5403}}) {
    all->push_back({p.kernel, "5.1", p.m, p.n, p.k,
                    MicrosecondsAt(p.m, p.n, p.k, p.tflops),
                    Interleaved(p.k / 512), uint64_t(Tiles(p.m, p.n)), 1,
                    Traffic(p.m, p.n, p.k, 0.5 + 1.0 / 32)});
    all->back().trace.width = MatrixWidth::kSmall;
  }
}

struct Few {
  const char* kernel;
  double m, n, k;
  double bytes;  // of an element
  double microseconds;
  int columns;  // of a tile
  int split;    // of K, so that all CUs have work: the tables say 2 to 8
};

void AddSkinny(std::vector<PublishedTiming>* all) {
  for (const Few& p :
       {Few{"AITER bf16", 1, 151936, 4096, 2, 183, 64, 1},
        Few{"AITER bf16", 1, 8192, 28672, 2, 75.5, 64, 8},
        Few{"AITER bf16", 1, 8192, 8192, 2, 25.8, 64, 4},
        Few{"AITER bf16", 1, 7168, 2048, 2, 7.6, 64, 2},
        Few{"AITER bf16", 64, 57344, 8192, 2, 146, 64, 1},
        Few{"AITER fp8", 16, 16384, 26624, 1, 71, 64, 1},
        Few{"AITER fp8", 16, 53248, 16384, 1, 149, 64, 1},
        Few{"AITER fp8", 16, 7168, 2048, 1, 5.4, 64, 1},
        Few{"AITER mxfp4", 64, 106496, 16384, 0.53125, 148, 128, 1},
        Few{"AITER bf16", 1, 128, 2880, 2, 4.1, 64, 8}}) {
    const double rows = std::ceil(p.m / 16) * 16;
    const double in_group =
        (std::min(p.m, rows) + p.columns) * p.k * p.bytes / p.split;
    const MatrixWidth width = p.bytes == 2   ? MatrixWidth::k16
                              : p.bytes == 1 ? MatrixWidth::k8
                                             : MatrixWidth::kSmall;
    const int pieces = static_cast<int>(rows + p.columns) / 8;
    all->push_back({p.kernel, "5.5", p.m, p.n, p.k, p.microseconds,
                    Skinny(in_group, pieces, pieces, 16),
                    uint64_t(std::ceil(p.n / p.columns)) * p.split, 1,
                    Traffic(p.m, p.n, p.k, p.bytes)});
    all->back().trace.width = width;
  }
}

}  // namespace

std::vector<PublishedTiming> PublishedLadder() {
  const double side = 4096;
  std::vector<PublishedTiming> steps;
  for (const auto& [tile, tflops] : {std::pair{128, 1829.0}, {256, 2288.0}}) {
    steps.push_back({"double buffer, fp8", "5.1", side, side, side,
                     MicrosecondsAt(side, side, side, tflops),
                     DoubleBuffered(side / 128, tile),
                     uint64_t(side / tile * side / tile), 1,
                     Traffic(side, side, side, 1)});
    steps.back().trace.width = MatrixWidth::k8;
  }
  return steps;
}

std::vector<PublishedTiming> PublishedTimings() {
  std::vector<PublishedTiming> all;
  AddLarge(&all);
  AddSkinny(&all);
  return all;
}

}  // namespace ingot::profile
