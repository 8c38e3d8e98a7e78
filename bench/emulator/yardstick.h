// What the host does by itself: figures of the emulator are held against it, so
// that they can be compared across machines and loads.
#ifndef INGOT_BENCH_EMULATOR_YARDSTICK_H_
#define INGOT_BENCH_EMULATOR_YARDSTICK_H_

namespace ingot::bench {

// Multiply-adds of f32 a second in the plainest matrix product, one thread.
double HostMultiplyAddsPerSecond();

}  // namespace ingot::bench

#endif  // INGOT_BENCH_EMULATOR_YARDSTICK_H_
