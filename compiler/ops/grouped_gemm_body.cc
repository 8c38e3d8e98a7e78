// grouped_gemm, the code half; what it computes stands in
// grouped_gemm_plan_request.h.
//
// A workgroup finds out once which rows each group has (tile/ragged.h), then
// goes over tiles until there are none left: in round r the workgroups take the
// tiles from r * workgroups on, XCD by XCD as gemm does. A tile is a product of
// its own, with the hot loop of gemm.
#include <map>
#include <optional>
#include <string>

#include "compiler/ops/body.h"
#include "compiler/tile/epilogue.h"
#include "compiler/tile/matmul.h"
#include "compiler/tile/ragged.h"
#include "compiler/tile/tile_order.h"

namespace ingot {
namespace {

using tile::Builder;
using tile::Value;
using tile::Values;

// The baked parameters, as grouped_gemm_plan.cc writes them.
struct Params {
  tile::MatmulShape shape;
  tile::Type elem_d;
  std::optional<tile::Type> elem_bias;
  tile::Activation activation = tile::Activation::kNone;
  tile::Pairing pairing = tile::Pairing::kNone;
  bool b_transposed = false;
  bool dma = false;
  int capacity = 0;
  int width_a = 0;
  int width_b = 0;
  int width_d = 0;
  int width_bias = 0;

  bool scaled() const { return shape.a.narrow(); }
};

absl::StatusOr<Params> ReadParams(Builder& b) {
  const auto number = [&](const char* name) {
    return static_cast<int>(b.Int(name));
  };
  Params p;
  p.shape.m = number("tile_m");
  p.shape.n = number("tile_n");
  p.shape.k = number("tile_k");
  p.shape.waves_m = number("waves_m");
  p.shape.waves_n = number("waves_n");
  p.shape.stages = number("stages");
  p.b_transposed = b.String("b_layout") == "gnk";
  p.dma = b.String("schedule") == "dma";
  p.shape.leaves_loads = p.dma;
  p.capacity = number("capacity");
  p.width_a = number("width_a");
  p.width_b = number("width_b");
  p.width_d = number("width_d");
  p.width_bias = number("width_bias");
  const std::string act = b.String("act");
  const std::string pairing = b.String("pairing");
  const std::string bias = b.String("bias");
  INGOT_RETURN_IF_ERROR(b.status());
  INGOT_ASSIGN_OR_RETURN(p.activation,
                         tile::ActivationOf(act == "swiglu" ? "silu" : act));
  if (pairing == "halves") p.pairing = tile::Pairing::kHalves;
  if (pairing == "interleaved") p.pairing = tile::Pairing::kInterleaved;
  if (bias != "none") {
    INGOT_ASSIGN_OR_RETURN(p.elem_bias, tile::TypeOf(bias));
  }
  INGOT_ASSIGN_OR_RETURN(
      p.shape.a, tile::ElementOf(b.String("dtype_a"), b.String("scales_a")));
  INGOT_ASSIGN_OR_RETURN(
      p.shape.b, tile::ElementOf(b.String("dtype_b"), b.String("scales_b")));
  INGOT_ASSIGN_OR_RETURN(p.elem_d, tile::TypeOf(b.String("dtype_d")));
  for (const Param& option : b.spec().codegen) {
    const int64_t* value = std::get_if<int64_t>(&option.value);
    if (option.name == "agpr_alloc" && value != nullptr) {
      p.shape.accumulate_in_agprs = *value > 0;
    }
  }
  return p;
}

// Scalar registers are few where a tile has both a k loop and an epilogue.
//
// An argument as if it were another one for each tile: what follows from it
// would else be computed before the first one and kept.
Value FreshArg(Builder& b, const char* name) {
  return b.Opaque(b.Arg(name), tile::RegisterClass::kSgpr, /*pinned=*/true);
}

// Arguments that are needed once a tile wait for that in vector registers.
class RarelyUsed {
 public:
  explicit RarelyUsed(Builder& b) : b_(b) {
    for (const char* name :
         {"b", "group_stride_b", "d", "bias", "scale_a", "scale_b",
          "group_stride_scale_b", "ld_scale_a", "ld_scale_b"}) {
      if (!b_.HasArg(name)) continue;
      kept_[name] = b_.Opaque(b_.Arg(name), tile::RegisterClass::kVgpr,
                              /*pinned=*/true);
    }
  }

  Value Arg(const char* name) const { return b_.ReadFirstLane(kept_.at(name)); }

  // Where the group's part of an operand with `elements` a group starts.
  Value OfGroup(const char* name, Value group, Value elements,
                int bytes) const {
    return Offset(Arg(name), Convert(group, tile::kI64) * elements * bytes);
  }

 private:
  Builder& b_;
  std::map<std::string, Value> kept_;
};

Values Multiply(Builder& b, const Params& p, const RarelyUsed& args,
                Value group, const tile::TilePlace& place) {
  const Value k = FreshArg(b, "k");
  tile::PanelShape shape_a = p.shape.panel_a();
  tile::PanelShape shape_b = p.shape.panel_b();
  shape_b.k_contiguous = p.b_transposed;
  shape_b.paired = p.pairing == tile::Pairing::kHalves;
  tile::PanelSource a{b.Arg("a"), FreshArg(b, "lda"), place.row, place.rows, k};
  tile::PanelSource matrix{args.OfGroup("b", group, args.Arg("group_stride_b"),
                                        p.shape.b.unit_bytes()),
                           FreshArg(b, "ldb"), place.column, place.columns, k};
  if (p.scaled()) {
    a.scales = args.Arg("scale_a");
    matrix.scales =
        args.OfGroup("scale_b", group, args.Arg("group_stride_scale_b"), 1);
    a.scale_stride = args.Arg("ld_scale_a");
    matrix.scale_stride = args.Arg("ld_scale_b");
  }
  tile::Panel left(b, shape_a, a);
  tile::Panel right(b, shape_b, matrix);
  if (p.dma) return tile::RunDmaLoop(b, p.shape, left, right, k);
  return tile::RunStagedLoop(b, p.shape, left, p.width_a, right, p.width_b, k);
}

tile::EpilogueTerms Terms(Builder& b, const Params& p, const RarelyUsed& args,
                          Value group) {
  tile::EpilogueTerms terms;
  terms.activation = p.activation;
  terms.pairing = p.pairing;
  terms.d = {args.Arg("d"), FreshArg(b, "ldd"), p.elem_d, p.width_d};
  if (p.elem_bias) {
    const Value elements = Convert(b.Arg("columns"), tile::kI64);
    terms.bias = {args.OfGroup("bias", group, elements, p.elem_bias->Bytes()),
                  *p.elem_bias, p.width_bias};
  }
  return terms;
}

// Tile `tile` of all groups' tiles.
void RunTile(Builder& b, const Params& p, const RarelyUsed& args,
             tile::RaggedRows& rows, Value tile, Value tiles_n) {
  const Value row_tile = b.ReadFirstLane(tile / tiles_n);
  const tile::RaggedRows::Group group = rows.Find(row_tile);
  const tile::TileIndex index = tile::PlaceOfTile(
      b, tile - group.first_tile * tiles_n, group.tiles, tiles_n);
  // The group's last row is where the tile's rows end, not the matrix's.
  const tile::TilePlace place{group.first_row + index.m * p.shape.m,
                              index.n * p.shape.n, group.end_row,
                              b.Arg("columns")};
  const Values sums = Multiply(b, p, args, group.index, place);
  // Every wave has read the last step before the next tile writes over it.
  b.Barrier();
  if (sums.empty()) return;
  tile::FinishTile(b, p.shape, place, Terms(b, p, args, group.index), sums);
}

}  // namespace

absl::Status Build_grouped_gemm(Builder& b, const KernelSpec& spec) {
  INGOT_ASSIGN_OR_RETURN(const Params p, ReadParams(b));
  tile::RaggedRows rows(b, {p.shape.m, p.capacity}, b.Arg("offs"),
                        b.Arg("groups"), b.Arg("total_m"));
  const RarelyUsed args(b);
  const Value workgroups = b.Arg("workgroups");
  const Value tiles_n =
      b.ReadFirstLane((b.Arg("columns") + (p.shape.n - 1)) / p.shape.n);
  const Value tiles = rows.tiles() * tiles_n;
  b.If(b.BlockX() < tiles, [&] {
    b.Repeat({b.I32(0)}, [&](absl::Span<const Value> carried) -> tile::Round {
      const Value first = carried[0];
      const Value in_round = Min(tiles - first, workgroups);
      RunTile(b, p, args, rows, first + tile::NumberByXcd(b, in_round),
              tiles_n);
      const Value next = first + workgroups;
      return {next + b.BlockX() < tiles, {next}};
    });
  });
  return b.status();
}

}  // namespace ingot
