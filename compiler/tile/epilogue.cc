#include "compiler/tile/epilogue.h"

#include <algorithm>
#include <utility>

namespace ingot::tile {
namespace {

ColumnMap ProductMap(Pairing pairing) {
  return pairing == Pairing::kHalves ? ColumnMap::kHalves : ColumnMap::kAll;
}

ColumnMap ResultMap(Pairing pairing) {
  return pairing == Pairing::kNone ? ColumnMap::kAll : ColumnMap::kPairs;
}

// Accumulators that fill half of the registers leave no room for a second row
// of what memory adds.
bool HasRoomAhead(const MatmulShape& shape) {
  constexpr int kMost = 16;
  return shape.accumulate_in_agprs ||
         shape.fragments_m() * shape.fragments_n() <= kMost;
}

// Gates and ups of two neighbouring blocks of the product, where the block of
// the result that they make has them.
struct Pairs {
  Value gate;
  Value up;
};

// A lane of groups 0 and 1 (of 16 lanes) has four gates of each block, one of
// groups 2 and 3 the ups. Exchanging halves of the wave brings them together:
// blocks side by side, a lane four neighbouring pairs.
Pairs JoinHalves(Builder& b, Value left, Value right) {
  Values gates;
  Values ups;
  for (int e = 0; e < 4; ++e) {
    const auto [gate, up] =
        b.Permlane32Swap(Extract(left, e), Extract(right, e));
    gates.push_back(gate);
    ups.push_back(up);
  }
  return {Pack(gates), Pack(ups)};
}

// Two pairs a lane of each block become four pairs of one block: group g of the
// result takes both of groups 2 g and 2 g + 1, counted through both blocks.
Value JoinInterleaved(Builder& b, Value left, Value right) {
  Values low;
  Values high;
  for (int e = 0; e < 2; ++e) {
    const auto [left_groups, right_groups] =
        b.Permlane32Swap(Extract(left, e), Extract(right, e));
    const auto [even, odd] = b.Permlane16Swap(left_groups, right_groups);
    low.push_back(even);
    high.push_back(odd);
  }
  return Pack({low[0], low[1], high[0], high[1]});
}

// act(gate) * up of two blocks of the product, as one block of the result.
Value JoinBlocks(Builder& b, const EpilogueTerms& terms, Value left,
                 Value right) {
  if (terms.pairing == Pairing::kHalves) {
    const Pairs pairs = JoinHalves(b, left, right);
    return Activate(terms.activation, pairs.gate) * pairs.up;
  }
  const Value all = Concat(left, right);
  const Value product =
      Activate(terms.activation, Shuffle(all, all, {0, 2, 4, 6})) *
      Shuffle(all, all, {1, 3, 5, 7});
  return JoinInterleaved(b, Slice(product, 0, 2), Slice(product, 2, 2));
}

}  // namespace

Epilogue::Epilogue(Builder& builder, const MatmulShape& shape,
                   const TilePlace& place, const EpilogueTerms& terms)
    : b_(builder),
      terms_(terms),
      rows_(shape.fragments_m()),
      columns_(shape.fragments_n()),
      ahead_(HasRoomAhead(shape)),
      d_(builder, shape, place, terms.d, ResultMap(terms.pairing)) {
  const ColumnMap product = ProductMap(terms.pairing);
  if (terms.c) c_.emplace(b_, shape, place, *terms.c, product);
  if (terms.residual) {
    residual_.emplace(b_, shape, place, *terms.residual,
                      ResultMap(terms.pairing));
  }
  if (terms.bias) bias_.emplace(b_, shape, place, *terms.bias, product);
  if (terms.column_scale) {
    column_scale_.emplace(b_, shape, place, *terms.column_scale, product);
  }
  if (terms.row_scale) row_scale_.emplace(b_, shape, place, *terms.row_scale);
}

// The argument of the activation.
Value Epilogue::Argument(int i, int j, Value sum, const Added& added) {
  Value factor = terms_.alpha;
  if (row_scale_) {
    factor = factor.valid() ? factor * row_scale_->At(i) : row_scale_->At(i);
  }
  Value value = sum;
  if (factor.valid()) value = value * Splat(factor, 4);
  if (column_scale_) value = value * column_scale_->At(j);
  if (c_) {
    value = Fma(c_->Take(added.c, j), Splat(terms_.beta, 4), value);
  }
  if (bias_) value = value + bias_->At(j);
  return value;
}

Epilogue::Added Epilogue::Load(int i) {
  Added added;
  if (c_) added.c = c_->Load(i);
  if (residual_) added.residual = residual_->Load(i);
  return added;
}

void Epilogue::Finish(int i, absl::Span<const Value> sums) {
  const Added added = i == 0 || !ahead_ ? Load(i) : std::move(next_);
  if (ahead_ && i + 1 < rows_) next_ = Load(i + 1);
  const int joined = terms_.pairing == Pairing::kNone ? 1 : 2;
  for (int j = 0; j < columns_; j += joined) {
    Value value = Argument(i, j, sums[j], added);
    if (joined == 1) {
      value = Activate(terms_.activation, value);
    } else {
      // A block without a neighbour pairs with itself; what that makes beyond
      // the wave's columns is not stored.
      const int next = std::min(j + 1, columns_ - 1);
      const Value other =
          next == j ? value : Argument(i, next, sums[next], added);
      value = JoinBlocks(b_, terms_, value, other);
    }
    const int block = j / joined;
    if (residual_) {
      value = value + residual_->Take(added.residual, block);
    }
    d_.Store(i, block, value);
  }
}

void FinishTile(Builder& builder, const MatmulShape& shape,
                const TilePlace& place, const EpilogueTerms& terms,
                const Values& sums) {
  Epilogue epilogue(builder, shape, place, terms);
  const int columns = shape.fragments_n();
  for (int i = 0; i < shape.fragments_m(); ++i) {
    Values row(sums.begin() + i * columns, sums.begin() + (i + 1) * columns);
    for (Value& sum : row) {
      if (!shape.accumulate_in_agprs) break;
      sum = builder.Opaque(sum, RegisterClass::kAgpr, /*pinned=*/true);
    }
    epilogue.Finish(i, row);
  }
  AwaitLoads(builder, shape, epilogue.stores());
}

}  // namespace ingot::tile
