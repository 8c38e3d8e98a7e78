// Lines of the scalar ALU's tables, and what its formats share.
#ifndef TESTS_EMULATOR_INTERP_SOP_H_
#define TESTS_EMULATOR_INTERP_SOP_H_

#include <string>

#include "tests/emulator/interp/scalar.h"
#include "tests/emulator/interp/tables.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

using U = uint32_t;
using I = int32_t;
using UL = uint64_t;
using IL = int64_t;

// A lane-less operation: kFunction(a, b, scc) may change SCC.
template <class D, class A, class B, auto kFunction>
void Two(Wave& w, const Inst& i) {
  uint32_t scc = w.scc;
  const D r =
      kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]), scc);
  WriteScalar<D>(w, i.dst, r);
  w.scc = scc;
}

// As Two; SCC becomes "the result is not zero".
template <class D, class A, class B, auto kFunction>
void TwoLogic(Wave& w, const Inst& i) {
  const D r = kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]));
  WriteScalar<D>(w, i.dst, r);
  w.scc = r != 0;
}

template <class D, class A, auto kFunction>
void One(Wave& w, const Inst& i) {
  uint32_t scc = w.scc;
  const D r = kFunction(ReadScalar<A>(w, i.src[0]), scc);
  WriteScalar<D>(w, i.dst, r);
  w.scc = scc;
}

template <class A, class B, auto kFunction>
void Compare(Wave& w, const Inst& i) {
  w.scc = kFunction(ReadScalar<A>(w, i.src[0]), ReadScalar<B>(w, i.src[1]));
}

template <auto kFunction>
void SaveExec(Wave& w, const Inst& i) {
  const uint64_t source = ReadScalar<UL>(w, i.src[0]), exec = w.exec();
  w.SetS64(i.dst, exec);
  const uint64_t next = kFunction(source, exec);
  w.SetS64(kExec, next);
  w.scc = next != 0;
}

template <auto kFunction>
void WriteExec(Wave& w, const Inst& i) {
  const uint64_t next = kFunction(ReadScalar<UL>(w, i.src[0]), w.exec());
  w.SetS64(kExec, next);
  w.SetS64(i.dst, next);
  w.scc = next != 0;
}

template <class D, class A, class B, auto kFunction>
constexpr OpInfo S2(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &Two<D, A, B, kFunction>, OpClass::kSalu, flags};
  o.dst_words = sizeof(D) / 4;
  o.src_words[0] = sizeof(A) / 4;
  o.src_words[1] = sizeof(B) / 4;
  o.src_kind[0] = ScalarKind<A>();
  o.src_kind[1] = ScalarKind<B>();
  return o;
}

template <class D, class A, class B, auto kFunction>
constexpr OpInfo L2(uint16_t opcode, const char* name) {
  OpInfo o = S2<D, A, B, [](A, B, uint32_t&) { return D(); }>(opcode, name);
  o.run = &TwoLogic<D, A, B, kFunction>;
  return o;
}

template <class D, class A, auto kFunction>
constexpr OpInfo S1(uint16_t opcode, const char* name, uint32_t flags = 0) {
  OpInfo o{opcode, name, &One<D, A, kFunction>, OpClass::kSalu, flags};
  o.dst_words = sizeof(D) / 4;
  o.src_words[0] = sizeof(A) / 4;
  o.src_kind[0] = ScalarKind<A>();
  return o;
}

template <class A, class B, auto kFunction>
constexpr OpInfo SC(uint16_t opcode, const char* name) {
  OpInfo o{opcode, name, &Compare<A, B, kFunction>, OpClass::kSalu, 0};
  o.dst_words = 0;
  o.src_words[0] = sizeof(A) / 4;
  o.src_words[1] = sizeof(B) / 4;
  o.src_kind[0] = ScalarKind<A>();
  o.src_kind[1] = ScalarKind<B>();
  return o;
}

constexpr OpInfo SH(uint16_t opcode, const char* name, Handler run, int dst,
                    int src, uint32_t flags = 0, OpClass cls = OpClass::kSalu) {
  OpInfo o{opcode, name, run, cls, flags};
  o.dst_words = static_cast<uint8_t>(dst);
  o.src_words[0] = static_cast<uint8_t>(src);
  o.src_kind[0] = src == 0   ? SrcKind::kNone
                  : src == 2 ? SrcKind::kB64
                             : SrcKind::kB32;
  return o;
}

// What the processor has, but only a trap handler or a graphics driver uses.
inline void NotModelled(Wave& w, const Inst& i) {
  w.Raise(FaultKind::kUnknownInstruction, -1, 0,
          (std::string(i.op->name) + " is not modelled").c_str());
}

// Signed overflow goes to SCC.
constexpr auto kAddI = [](U a, U b, uint32_t& scc) {
  const U r = a + b;
  scc = (~(a ^ b) & (a ^ r)) >> 31;
  return r;
};

// ---- Forks: a divergent branch runs the smaller half first and keeps the
// other in four SGPRs at MODE.CSP * 4, until s_cbranch_join. ----

inline uint32_t ForkDepth(const Wave& w) { return w.mode >> 29; }
inline void SetForkDepth(Wave& w, uint32_t depth) {
  w.mode = (w.mode & 0x1fffffff) | depth << 29;
}

inline void PushFork(Wave& w, UL pc, UL exec) {
  const int at = static_cast<int>(ForkDepth(w) * 4);
  w.SetS64(at, exec);
  w.SetS64(at + 2, pc);
  SetForkDepth(w, (ForkDepth(w) + 1) & 7);
}

// `pass` are the lanes that want `target`.
inline void Fork(Wave& w, UL pass, UL target) {
  const UL exec = w.exec(), taken = pass & exec, left = ~pass & exec;
  if (taken == exec) {
    w.pc = target;
  } else if (left != exec) {
    const bool left_first =
        __builtin_popcountll(left) < __builtin_popcountll(taken);
    PushFork(w, left_first ? target : w.pc, left_first ? taken : left);
    w.SetS64(kExec, left_first ? left : taken);
    if (!left_first) w.pc = target;
  }
}
inline void GroupFork(Wave& w, const Inst& i) {
  Fork(w, ReadScalar<UL>(w, i.src[0]), ReadScalar<UL>(w, i.src[1]));
}
inline void ImmediateFork(Wave& w, const Inst& i) {
  Fork(w, w.S64(i.dst), w.pc + static_cast<UL>(IL{i.imm} * 4));
}
inline void Join(Wave& w, const Inst& i) {
  if (ForkDepth(w) == ReadScalar<U>(w, i.src[0])) return;
  SetForkDepth(w, (ForkDepth(w) - 1) & 7);
  const int at = static_cast<int>(ForkDepth(w) * 4);
  w.SetS64(kExec, w.S64(at));
  w.pc = w.S64(at + 2);
}

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_SOP_H_
