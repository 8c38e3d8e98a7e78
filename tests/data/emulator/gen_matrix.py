"""Writes matrix.s: one kernel for every dense and sparse matrix instruction.

Arguments: in*, out*. Each lane has 64 dwords of input: A at 0, B at 8, C at 16,
the index or the scales at 48; it stores the 32 registers of D, 64 dwords from lane to lane.
"""
import re

MFMA = """f32_16x16x32_bf16 f32_32x32x16_bf16 f32_16x16x32_f16 f32_32x32x16_f16 f32_16x16x16_f16 f32_32x32x8_f16
f32_16x16x16_bf16 f32_32x32x8_bf16 f32_32x32x4_2b_f16 f32_16x16x4_4b_f16 f32_4x4x4_16b_f16 f32_32x32x4_2b_bf16
f32_16x16x4_4b_bf16 f32_4x4x4_16b_bf16 f32_32x32x1_2b_f32 f32_16x16x1_4b_f32 f32_4x4x1_16b_f32 f32_32x32x2_f32
f32_16x16x4_f32 i32_16x16x64_i8 i32_32x32x32_i8 i32_32x32x4_2b_i8 i32_16x16x4_4b_i8 i32_4x4x4_16b_i8 i32_32x32x16_i8
i32_16x16x32_i8 f64_16x16x4_f64 f64_4x4x4_4b_f64""".split()
for a in ("fp8", "bf8"):
    for b in ("fp8", "bf8"):
        MFMA += [f"f32_16x16x32_{a}_{b}", f"f32_32x32x16_{a}_{b}"]
SMFMAC = """f32_16x16x32_f16 f32_32x32x16_f16 f32_16x16x32_bf16 f32_32x32x16_bf16 i32_16x16x64_i8 i32_32x32x32_i8
f32_16x16x64_f16 f32_32x32x32_f16 f32_16x16x64_bf16 f32_32x32x32_bf16""".split()
for a in ("fp8", "bf8"):
    for b in ("fp8", "bf8"):
        SMFMAC += [f"f32_16x16x64_{a}_{b}", f"f32_32x32x32_{a}_{b}"]
FORMATS = ["fp8", "bf8", "fp6", "bf6", "fp4"]
WORDS = [8, 8, 6, 6, 4]


def regs(base, n, file="v"):
    return f"{file}{base}" if n == 1 else f"{file}[{base}:{base + n - 1}]"


def shape(name):
    m = re.match(r"(\w32|f64)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_(\w+)", name)
    out, dim, k, blocks, types = m[1], int(m[2]), int(m[3]), int(m[4] or 1), m[5]
    bits = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i8": 8}.get(types, 8)
    per_lane = k * dim * blocks // 64
    words = max(1, per_lane * bits // 32)
    d = dim * dim * blocks // 64 * (2 if out == "f64" else 1)
    return words, d


def kernel(name, lines):
    return [f"BEGIN {name}", "  LOAD"] + [f"  {l}" for l in lines] + ["  SAVE", f"FINISH {name}", ""]


out = ['.include "kernel.inc"', "", ".macro LOAD", "  s_load_dwordx4 s[4:7], s[0:1], 0x0",
       "  v_lshlrev_b32 v1, 8, v0", "  s_waitcnt lgkmcnt(0)"]
for n in range(4):
    out.append(f"  global_load_dwordx4 v[{16 + 4 * n}:{19 + 4 * n}], v1, s[4:5] offset:{16 * n}")
for n in range(8):
    out.append(f"  global_load_dwordx4 v[{64 + 4 * n}:{67 + 4 * n}], v1, s[4:5] offset:{64 + 16 * n}")
out += ["  global_load_dwordx2 v[8:9], v1, s[4:5] offset:192", "  s_waitcnt vmcnt(0)", ".endm", "",
        ".macro SAVE", "  s_nop 15", "  s_nop 15"]
for n in range(8):
    out.append(f"  global_store_dwordx4 v1, v[{64 + 4 * n}:{67 + 4 * n}], s[6:7] offset:{16 * n}")
out += [".endm", ""]
for name in MFMA:
    w, d = shape(name)
    out += kernel("mfma_" + name,
                  [f"v_mfma_{name} {regs(64, d)}, {regs(16, w)}, {regs(24, w)}, {regs(64, d)}"])
for name in SMFMAC:
    w, d = shape(name)
    out += kernel("smfmac_" + name,
                  [f"v_smfmac_{name} {regs(64, d)}, {regs(16, w // 2)}, {regs(24, w)}, v8"])
out += kernel("smfmac_abid_f32_16x16x64_f16",
              ["v_smfmac_f32_16x16x64_f16 v[64:67], v[16:19], v[24:31], v8 abid:1"])
for dim, k in ((16, 128), (32, 64)):
    d = dim * dim // 64
    for a in range(5):
        for b in range(5):
            ops = f"{regs(64, d)}, {regs(16, WORDS[a])}, {regs(24, WORDS[b])}, {regs(64, d)}"
            sel = f"op_sel:[{a & 1},{b & 1},0] op_sel_hi:[{a >> 1 & 1},{b >> 1 & 1},0]"
            out += kernel(f"scale_{dim}x{dim}x{k}_{FORMATS[a]}_{FORMATS[b]}",
                          [f"v_mfma_scale_f32_{dim}x{dim}x{k}_f8f6f4 {ops}, v8, v9 {sel} cbsz:{a} blgp:{b}"])
    out += kernel(f"plain_{dim}x{dim}x{k}_fp8_fp8",
                  [f"v_mfma_f32_{dim}x{dim}x{k}_f8f6f4 {regs(64, d)}, v[16:23], v[24:31], {regs(64, d)}"])
# Accumulation registers, and an inline constant as C.
acc = [f"v_accvgpr_write_b32 a{n}, v{16 + n}" for n in range(8)] + ["s_nop 4"]
out += kernel("acc_f32_16x16x32_bf16",
              acc + ["v_mfma_f32_16x16x32_bf16 a[8:11], a[0:3], v[24:27], 1.0", "s_nop 15"] +
              [f"v_accvgpr_read_b32 v{64 + n}, a{8 + n}" for n in range(4)])
# MFMA and its operands do not care about EXEC.
out += kernel("noexec_f32_16x16x32_bf16",
              ["s_mov_b64 exec, 1", "v_mfma_f32_16x16x32_bf16 v[64:67], v[16:19], v[24:27], v[64:67]",
               "s_mov_b64 exec, -1"])
open("matrix.s", "w").write("// Written by gen_matrix.py.\n" + "\n".join(out))
