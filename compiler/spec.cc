#include "compiler/spec.h"

#include <algorithm>

namespace ingot {
namespace {

template <typename T>
const T* FindByName(const std::vector<T>& list, absl::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const T& item) {
    return item.name == name;
  });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace

const Dim* Spec::FindDim(absl::string_view name) const {
  return FindByName(dims, name);
}
const Operand* Spec::FindOperand(absl::string_view name) const {
  return FindByName(operands, name);
}
const Attr* Spec::FindAttr(absl::string_view name) const {
  return FindByName(attrs, name);
}
const Tuning* Spec::FindTuning(absl::string_view name) const {
  return FindByName(tuning, name);
}

bool IsTokenDim(absl::string_view name) {
  static constexpr absl::string_view kTokenDims[] = {
      "m", "rows", "total_m", "sq", "sk", "context", "b", "kv_len"};
  return std::find(std::begin(kTokenDims), std::end(kTokenDims), name) !=
         std::end(kTokenDims);
}

}  // namespace ingot
