// Memory operations of tile/builder.h.
#include <algorithm>

#include "compiler/tile/builder_ir.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace ingot::tile {
namespace {

using AttributeList = llvm::SmallVector<mlir::NamedAttribute, 4>;

void AddScopes(Builder& builder, const Access& access, AttributeList& list) {
  mlir::OpBuilder& ir = BuilderAccess::Of(builder).ir;
  const auto add = [&](llvm::StringRef name, AliasScope scope) {
    if (scope.ir == nullptr) return;
    mlir::Attribute attribute = mlir::Attribute::getFromOpaquePointer(scope.ir);
    list.push_back(Named(builder, name, ir.getArrayAttr({attribute})));
  };
  add("alias_scopes", access.in);
  add("noalias_scopes", access.not_in);
}

AttributeList AccessAttributes(Builder& builder, Type type,
                               const Access& access) {
  mlir::OpBuilder& ir = BuilderAccess::Of(builder).ir;
  AttributeList list;
  const int align =
      access.align > 0 ? access.align : std::clamp(type.Bytes(), 1, 16);
  list.push_back(Named(builder, "alignment", ir.getI64IntegerAttr(align)));
  if (access.nontemporal) {
    list.push_back(Named(builder, "nontemporal", ir.getUnitAttr()));
  }
  if (access.invariant) {
    list.push_back(Named(builder, "invariant", ir.getUnitAttr()));
  }
  AddScopes(builder, access, list);
  return list;
}

// Buffer instructions move 8, 16 or whole 32-bit words; everything else is the
// same bits seen as such.
Type BufferWords(Type type) {
  if (type.Bits() == 8) return kI8;
  if (type.Bits() == 16) return kI16;
  return Vec(kI32, type.Bits() / 32);
}

bool IsBufferSize(Type type) {
  switch (type.Bits()) {
    case 8:
    case 16:
    case 32:
    case 64:
    case 96:
    case 128:
      return true;
  }
  return false;
}

Value Gep(Value pointer, Value index) {
  Builder& builder = *pointer.builder();
  BuilderAccess::State& state = BuilderAccess::Of(builder);
  mlir::Value moved = mlir::LLVM::GEPOp::create(
      state.ir, state.loc, ToIr(builder, pointer.type()), ToIr(builder, kI8),
      ValueAccess::Ir(pointer),
      llvm::ArrayRef<mlir::LLVM::GEPArg>{ValueAccess::Ir(index)});
  return ValueAccess::Wrap(&builder, moved, pointer.type());
}

}  // namespace

Value Offset(Value pointer, Value bytes) {
  if (!AllValid({pointer, bytes})) return {};
  if ((pointer.type() != kGlobal && pointer.type() != kLds) ||
      !bytes.type().IsInteger()) {
    return Misuse(*pointer.builder(), "Offset",
                  "needs a pointer and an integer");
  }
  if (bytes.AsConstant() == 0) return pointer;
  return Gep(pointer, Convert(bytes, pointer.type() == kLds ? kI32 : kI64));
}

Value Offset(Value pointer, int64_t bytes) {
  if (!pointer.valid() || bytes == 0) return pointer;
  return Offset(pointer, pointer.builder()->I64(bytes));
}

Value Builder::Load(Type type, Value pointer, const Access& access) {
  if (!pointer.valid()) return {};
  return Emit(*this, "llvm.load", type, {pointer},
              AccessAttributes(*this, type, access));
}

void Builder::Store(Value value, Value pointer, const Access& access) {
  if (!AllValid({value, pointer})) return;
  EmitOp(*this, "llvm.store", {}, {value, pointer},
         AccessAttributes(*this, value.type(), access));
}

Value Builder::Lds(absl::string_view name, int64_t bytes, int align) {
  state_->lds_bytes = (state_->lds_bytes + align - 1) / align * align + bytes;
  if (state_->lds_bytes > spec_.lds_bytes) {
    Fail(absl::FailedPreconditionError(
        absl::StrCat("lds_bytes: the kernel uses ", state_->lds_bytes,
                     " bytes of LDS, its plan allows ", spec_.lds_bytes)));
    return {};
  }
  const std::string symbol =
      absl::StrCat("lds_", state_->lds_objects++, "_", name);
  mlir::OpBuilder& ir = state_->ir;
  mlir::OpBuilder::InsertionGuard guard(ir);
  ir.setInsertionPointToStart(state_->module->getBody());
  auto array = mlir::LLVM::LLVMArrayType::get(ir.getIntegerType(8),
                                              static_cast<unsigned>(bytes));
  mlir::LLVM::GlobalOp::create(ir, state_->loc, array, /*isConstant=*/false,
                               mlir::LLVM::Linkage::Internal, symbol,
                               mlir::Attribute(), align, /*addrSpace=*/3);
  ir.setInsertionPointToStart(state_->entry);
  mlir::Value address = mlir::LLVM::AddressOfOp::create(
      ir, state_->loc, ToIr(*this, kLds), symbol);
  return ValueAccess::Wrap(this, address, kLds);
}

Value Builder::Buffer(Value base, Value bytes) {
  if (!AllValid({base, bytes})) return {};
  // Untyped, bounds-checked against num_records bytes (CDNA4 ISA, buffer
  // resource descriptor: DATA_FORMAT 32, ADD_TID off).
  constexpr int64_t kFlags = 0x27000;
  return Emit(
      *this, "rocdl.make.buffer.rsrc", kBuffer,
      {base, Const(kI16, int64_t{0}), Convert(bytes, kI64), I32(kFlags)});
}

Value Builder::BufferLoad(Type type, Value buffer, Value lane_offset,
                          Value scalar_offset, CachePolicy policy,
                          const Access& access) {
  if (!IsBufferSize(type)) return Misuse(*this, "BufferLoad", "size of type");
  AttributeList list;
  AddScopes(*this, access, list);
  return Bitcast(Emit(*this, "rocdl.raw.ptr.buffer.load", BufferWords(type),
                      {buffer, lane_offset, scalar_offset, I32(policy)}, list),
                 type);
}

void Builder::BufferStore(Value value, Value buffer, Value lane_offset,
                          Value scalar_offset, CachePolicy policy,
                          const Access& access) {
  if (!value.valid()) return;
  if (!IsBufferSize(value.type())) {
    Misuse(*this, "BufferStore", "size of type");
    return;
  }
  AttributeList list;
  AddScopes(*this, access, list);
  EmitOp(*this, "rocdl.raw.ptr.buffer.store", {},
         {Bitcast(value, BufferWords(value.type())), buffer, lane_offset,
          scalar_offset, I32(policy)},
         list);
}

void Builder::BufferLoadToLds(Value buffer, Value lds, int bytes,
                              Value lane_offset, Value scalar_offset,
                              int offset, CachePolicy policy,
                              const Access& access) {
  if (offset < 0 || offset > 4095) {
    Misuse(*this, "BufferLoadToLds", "an instruction's offset has 12 bits");
    return;
  }
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 12 && bytes != 16) {
    Misuse(*this, "BufferLoadToLds", "a lane moves 1, 2, 4, 12 or 16 bytes");
    return;
  }
  AttributeList list;
  AddScopes(*this, access, list);
  EmitOp(*this, "rocdl.raw.ptr.buffer.load.lds", {},
         {buffer, lds, I32(bytes), lane_offset, scalar_offset, I32(offset),
          I32(policy)},
         list);
}

Value Builder::ReadTransposed(Type type, Value lds, const Access& access) {
  const bool eight = type == Vec(kI32, 2);
  if (!eight && (type.Bits() != 64 || type.ElemBits() != 16)) {
    return Misuse(*this, "ReadTransposed", "reads 4 x 16 bits or 2 x i32");
  }
  AttributeList list;
  AddScopes(*this, access, list);
  return Emit(*this, eight ? "rocdl.ds.read.tr8.b64" : "rocdl.ds.read.tr16.b64",
              type, {lds}, list);
}

AliasScope Builder::NewAliasScope(absl::string_view name) {
  mlir::OpBuilder& ir = state_->ir;
  if (!state_->alias_domain) {
    state_->alias_domain =
        mlir::LLVM::AliasScopeDomainAttr::get(ir.getContext());
  }
  auto domain =
      llvm::cast<mlir::LLVM::AliasScopeDomainAttr>(state_->alias_domain);
  return {
      mlir::LLVM::AliasScopeAttr::get(
          domain, ir.getStringAttr(llvm::StringRef(name.data(), name.size())))
          .getAsOpaquePointer()};
}

Value Builder::AtomicAdd(Value pointer, Value value) {
  if (!AllValid({pointer, value})) return {};
  const auto op = value.type().IsFloat() ? mlir::LLVM::AtomicBinOp::fadd
                                         : mlir::LLVM::AtomicBinOp::add;
  mlir::Value before = mlir::LLVM::AtomicRMWOp::create(
      state_->ir, state_->loc, op, ValueAccess::Ir(pointer),
      ValueAccess::Ir(value), mlir::LLVM::AtomicOrdering::monotonic, "agent");
  return ValueAccess::Wrap(this, before, value.type());
}

void Builder::SyncWorkgroup() {
  mlir::LLVM::FenceOp::create(state_->ir, state_->loc,
                              mlir::LLVM::AtomicOrdering::release, "workgroup");
  Barrier();
  mlir::LLVM::FenceOp::create(state_->ir, state_->loc,
                              mlir::LLVM::AtomicOrdering::acquire, "workgroup");
}

void Builder::DeviceRelease() {
  mlir::LLVM::FenceOp::create(state_->ir, state_->loc,
                              mlir::LLVM::AtomicOrdering::release, "agent");
}

void Builder::DeviceAcquire() {
  mlir::LLVM::FenceOp::create(state_->ir, state_->loc,
                              mlir::LLVM::AtomicOrdering::acquire, "agent");
}

}  // namespace ingot::tile
