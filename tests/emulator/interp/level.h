// The interpreter is compiled once for each x86-64 level, each time into a
// namespace of its own, so that no function of one build can be linked in place
// of another's. Everything inline that these sources use is therefore either in
// that namespace or forced inline.
#ifndef TESTS_EMULATOR_INTERP_LEVEL_H_
#define TESTS_EMULATOR_INTERP_LEVEL_H_

#ifndef INGOT_EMULATOR_LEVEL
#define INGOT_EMULATOR_LEVEL x86_64_baseline
#define INGOT_EMULATOR_LEVEL_NAME "x86-64"
#endif

#define INGOT_EMULATOR_INLINE [[gnu::always_inline]] inline

#endif  // TESTS_EMULATOR_INTERP_LEVEL_H_
