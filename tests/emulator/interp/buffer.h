// Buffer resources: what MUBUF and MTBUF make of an address.
//
// Resource: base [47:0], stride [61:48], swizzle bit 63, num_records [95:64],
// dst_sel [107:96], number format [110:108], data format [114:111], index
// stride [118:117], add_tid bit 119. With add_tid the data format's bits extend
// the stride, unless the instruction converts formats.
#ifndef TESTS_EMULATOR_INTERP_BUFFER_H_
#define TESTS_EMULATOR_INTERP_BUFFER_H_

#include <cstdint>

#include "tests/emulator/interp/memory.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

struct Resource {
  // Indices are checked against num_records; bytes are; or nothing is.
  enum class Check { kIndex, kBytes, kNone };
  uint64_t base;
  uint32_t stride, records;
  uint32_t index_stride;  // 0: linear
  bool add_tid;
  Check check;
  uint32_t soffset;

  INGOT_EMULATOR_INLINE Resource(const Wave& w, const Inst& i,
                                 bool formatted = false) {
    const uint32_t* s = &w.s[i.saddr];
    base = s[0] | uint64_t{s[1] & 0xffff} << 32;
    stride = s[1] >> 16 & 0x3fff;
    records = s[2];
    add_tid = (s[3] >> 23 & 1) != 0;
    if (add_tid && !formatted) stride |= (s[3] >> 15 & 15) << 14;
    index_stride = (s[1] >> 31) != 0 ? 8u << (s[3] >> 21 & 3) : 0;
    check = add_tid && !i.idxen      ? Check::kNone
            : i.idxen && stride != 0 ? Check::kIndex
                                     : Check::kBytes;
    soffset = static_cast<uint32_t>(Uniform(w, i.src[1], false));
  }
};

// One lane's place in the buffer.
struct BufferPlace {
  uint64_t address;
  uint64_t offset;  // from the base, for the check of bytes
  bool index_ok;

  INGOT_EMULATOR_INLINE BufferPlace(const Wave& w, const Inst& i,
                                    const Resource& r, int lane) {
    int v = i.src[0].reg;
    uint64_t index = i.idxen ? w.v[v++][lane] : 0;
    if (r.add_tid) index += static_cast<uint32_t>(lane);
    const uint32_t offen =
        (i.offen ? w.v[v][lane] : 0) + static_cast<uint32_t>(i.imm);
    offset = uint64_t{offen} + r.soffset;
    address = r.base + r.soffset +
              (r.index_stride == 0 ? r.stride * index + offen
                                   : Swizzled(r, index, offen));
    index_ok = index < r.records;
  }
  INGOT_EMULATOR_INLINE bool InRange(const Resource& r, uint64_t at,
                                     uint32_t bytes) const {
    if (r.check == Resource::Check::kNone) return true;
    return r.check == Resource::Check::kIndex
               ? index_ok
               : offset + at + bytes <= r.records;
  }

 private:
  // Elements of one dword: the same element of `index_stride` records lies
  // together.
  INGOT_EMULATOR_INLINE static uint64_t Swizzled(const Resource& r,
                                                 uint64_t index,
                                                 uint32_t offset) {
    const uint64_t high = index / r.index_stride, low = index % r.index_stride;
    return (high * r.stride + (offset & ~3u)) * r.index_stride + low * 4 +
           (offset & 3);
  }
};

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_BUFFER_H_
