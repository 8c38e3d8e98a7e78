// Machine operations of tile/builder.h: identities, waits, scheduling, lanes,
// matrix instructions.
#include "compiler/tile/builder_ir.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::tile {
namespace {

// gfx9 s_waitcnt: vmcnt in bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8; all
// ones in a field do not wait (CDNA4 ISA, S_WAITCNT).
int64_t WaitBits(WaitCounts counts) {
  const int vm = counts.vm < 0 ? 63 : counts.vm;
  const int lgkm = counts.lgkm < 0 ? 15 : counts.lgkm;
  return (vm & 15) | (vm >> 4) << 14 | 7 << 4 | lgkm << 8;
}

mlir::NamedAttribute NamedI16(Builder& builder, llvm::StringRef name,
                              int64_t value) {
  return Named(builder, name,
               BuilderAccess::Of(builder).ir.getI16IntegerAttr(value));
}

mlir::NamedAttribute NamedBool(Builder& builder, llvm::StringRef name,
                               bool value) {
  return Named(builder, name, BuilderAccess::Of(builder).ir.getBoolAttr(value));
}

std::string ShapeText(MfmaShape shape) {
  return absl::StrCat(shape.m, "x", shape.n, "x", shape.k);
}

// The ROCDL mnemonic after "rocdl.mfma.", or empty when there is none.
std::string MfmaName(MfmaShape shape, Elem elem) {
  const std::string text = ShapeText(shape);
  const bool double_rate = text == "16x16x32" || text == "32x32x16";
  switch (elem) {
    case Elem::kBF16:
      if (double_rate) return absl::StrCat("f32.", text, ".bf16");
      return absl::StrCat("f32.", text, "bf16.1k");
    case Elem::kF16:
      if (double_rate) return absl::StrCat("f32.", text, ".f16");
      return absl::StrCat("f32.", text, "f16");
    case Elem::kI32:
      return absl::StrCat("i32.", text, ".i8");
    case Elem::kF32:
      return absl::StrCat("f32.", text, "f32");
    case Elem::kF64:
      return absl::StrCat("f64.", text, "f64");
    default:
      return "";
  }
}

// Runs a 32-bit lane operation on any type that is one or two words wide.
template <typename Operation>
Value AsWord(Builder& builder, absl::string_view where, Value value,
             Operation operation) {
  if (!value.valid()) return {};
  if (value.type().Bits() != 32) {
    return Misuse(builder, where, "moves 32 bits a lane");
  }
  return Bitcast(operation(Bitcast(value, kI32)), value.type());
}

std::pair<Value, Value> Swap(Builder& builder, llvm::StringRef op, Value a,
                             Value b) {
  if (!AllValid({a, b})) return {};
  if (a.type() != b.type() || a.type().Bits() != 32) {
    Misuse(builder, "PermlaneSwap", "exchanges 32 bits a lane");
    return {};
  }
  mlir::Type word = ToIr(builder, kI32);
  mlir::Operation* swap = EmitOp(builder, op, {StructOf(builder, {word, word})},
                                 {Bitcast(a, kI32), Bitcast(b, kI32)},
                                 {NamedBool(builder, "fi", false),
                                  NamedBool(builder, "boundControl", false)});
  const auto part = [&](int64_t index) {
    BuilderAccess::State& state = BuilderAccess::Of(builder);
    mlir::OperationState extract(state.loc, "llvm.extractvalue");
    extract.addOperands(swap->getResult(0));
    extract.addTypes(word);
    extract.addAttribute("position", state.ir.getDenseI64ArrayAttr({index}));
    return Bitcast(ValueAccess::Wrap(
                       &builder, state.ir.create(extract)->getResult(0), kI32),
                   a.type());
  };
  return {part(0), part(1)};
}

}  // namespace

Value Builder::LaneId() {
  if (spec_.workgroup[0] <= 64) return ThreadX();
  return ThreadX() & 63;
}

Value Builder::WaveId() {
  if (spec_.workgroup[0] <= 64) return I32(0);
  return ReadFirstLane(ThreadX() >> 6);
}

void Builder::Wait(WaitCounts counts) {
  if (counts.vm > 63 || counts.lgkm > 15) {
    Misuse(*this, "Wait", "vm counts to 63 and lgkm to 15");
    return;
  }
  EmitOp(*this, "rocdl.s.waitcnt", {}, {},
         {NamedI32(*this, "bitfield", WaitBits(counts))});
}

void Builder::Barrier() { EmitOp(*this, "rocdl.s.barrier", {}, {}); }

void Builder::SchedBarrier(int mask) {
  EmitOp(*this, "rocdl.sched.barrier", {}, {}, {NamedI32(*this, "mask", mask)});
}

void Builder::SchedGroup(int mask, int count, int group) {
  EmitOp(*this, "rocdl.sched.group.barrier", {}, {},
         {NamedI32(*this, "mask", mask), NamedI32(*this, "size", count),
          NamedI32(*this, "groupId", group)});
}

void Builder::SetPriority(int priority) {
  EmitOp(*this, "rocdl.s.setprio", {}, {},
         {NamedI16(*this, "priority", priority)});
}

Value Builder::ReadFirstLane(Value value) {
  if (!value.valid()) return {};
  return Emit(*this, "rocdl.readfirstlane", value.type(), {value});
}

Value Builder::ReadLane(Value value, Value lane) {
  return AsWord(*this, "ReadLane", value, [&](Value word) {
    return Emit(*this, "rocdl.readlane", kI32, {word, lane});
  });
}

Value Builder::Dpp(Value old, Value value, int control, int row_mask,
                   int bank_mask, bool zero_out_of_range) {
  if (!old.valid()) return {};
  return AsWord(*this, "Dpp", value, [&](Value word) {
    return Emit(*this, "rocdl.update.dpp", kI32, {Bitcast(old, kI32), word},
                {NamedI32(*this, "dppCtrl", control),
                 NamedI32(*this, "rowMask", row_mask),
                 NamedI32(*this, "bankMask", bank_mask),
                 NamedBool(*this, "boundCtrl", zero_out_of_range)});
  });
}

Value Builder::Swizzle(Value value, int pattern) {
  return AsWord(*this, "Swizzle", value, [&](Value word) {
    return Emit(*this, "rocdl.ds_swizzle", kI32, {word, I32(pattern)});
  });
}

Value Builder::Bpermute(Value value, Value source_lane) {
  return AsWord(*this, "Bpermute", value, [&](Value word) {
    return Emit(*this, "rocdl.ds_bpermute", kI32, {source_lane << 2, word});
  });
}

std::pair<Value, Value> Builder::Permlane32Swap(Value a, Value b) {
  return Swap(*this, "rocdl.permlane32.swap", a, b);
}

std::pair<Value, Value> Builder::Permlane16Swap(Value a, Value b) {
  return Swap(*this, "rocdl.permlane16.swap", a, b);
}

Value Builder::Ballot(Value predicate) {
  return Emit(*this, "rocdl.ballot", kI64, {predicate});
}

Value Builder::Mfma(MfmaShape shape, Value a, Value b, Value c) {
  if (!AllValid({a, b, c})) return {};
  const std::string name = MfmaName(shape, a.type().elem);
  if (name.empty() || a.type() != b.type()) {
    return Misuse(*this, "Mfma", "no instruction for these operands");
  }
  // The half-rate bf16 forms are declared on 16-bit integers.
  if (a.type() == Vec(kBF16, 4)) {
    a = Bitcast(a, Vec(kI16, 4));
    b = Bitcast(b, Vec(kI16, 4));
  }
  const Value zero = I32(0);
  return Emit(*this, absl::StrCat("rocdl.mfma.", name), c.type(),
              {a, b, c, zero, zero, zero});
}

Value Builder::MfmaScaled(MfmaShape shape, const MxOperand& a,
                          const MxOperand& b, Value c) {
  if (!AllValid({a.elements, a.scale, b.elements, b.scale, c})) return {};
  return Emit(
      *this, absl::StrCat("rocdl.mfma.scale.f32.", ShapeText(shape), ".f8f6f4"),
      c.type(),
      {a.elements, b.elements, c, I32(static_cast<int>(a.format)),
       I32(static_cast<int>(b.format)), I32(a.scale_byte), a.scale,
       I32(b.scale_byte), b.scale});
}

Value Builder::Opaque(Value value, RegisterClass registers, bool pinned) {
  if (!value.valid()) return {};
  const char letter = registers == RegisterClass::kAgpr   ? 'a'
                      : registers == RegisterClass::kSgpr ? 's'
                                                          : 'v';
  mlir::OpBuilder& ir = state_->ir;
  llvm::SmallVector<mlir::NamedAttribute, 3> list = {
      Named(*this, "asm_string", ir.getStringAttr("")),
      Named(*this, "constraints",
            ir.getStringAttr(absl::StrCat("=", std::string(1, letter), ",0")))};
  if (pinned) {
    list.push_back(Named(*this, "has_side_effects", ir.getUnitAttr()));
  }
  return Emit(*this, "llvm.inline_asm", value.type(), {value}, list);
}

Value Builder::Intrinsic(absl::string_view name, absl::Span<const Value> args,
                         Type result) {
  for (const Value& arg : args) {
    if (!arg.valid()) return {};
  }
  mlir::OpBuilder& ir = state_->ir;
  const llvm::SmallVector<mlir::NamedAttribute, 3> list = {
      Named(*this, "intrin",
            ir.getStringAttr(llvm::StringRef(name.data(), name.size()))),
      Named(*this, "op_bundle_sizes", ir.getDenseI32ArrayAttr({})),
      Named(*this, "operandSegmentSizes",
            ir.getDenseI32ArrayAttr({static_cast<int32_t>(args.size()), 0}))};
  const llvm::ArrayRef<Value> operands(args.data(), args.size());
  if (result.lanes == 0) {
    EmitOp(*this, "llvm.call_intrinsic", {}, operands, list);
    return {};
  }
  return Emit(*this, "llvm.call_intrinsic", result, operands, list);
}

}  // namespace ingot::tile
