#include "compiler/tile/element.h"

#include "absl/strings/str_cat.h"

namespace ingot::tile {
namespace {

struct FormatName {
  const char* name;
  MxFormat format;
};
constexpr FormatName kFormats[] = {{"e4m3fn", MxFormat::kE4M3},
                                   {"e5m2", MxFormat::kE5M2},
                                   {"e2m3", MxFormat::kE2M3},
                                   {"e3m2", MxFormat::kE3M2},
                                   {"e2m1", MxFormat::kE2M1}};

struct FetchName {
  const char* name;
  ScaleFetch fetch;
};
constexpr FetchName kFetches[] = {
    {"none", ScaleFetch::kNone},
    {"linear_words", ScaleFetch::kLinearWords},
    {"linear_bytes", ScaleFetch::kLinearBytes},
    {"shuffled_bytes", ScaleFetch::kShuffledBytes},
    {"shuffled_pairs", ScaleFetch::kShuffledPairs},
    {"shuffled_words", ScaleFetch::kShuffledWords}};

}  // namespace

absl::StatusOr<Element> ElementOf(absl::string_view dtype,
                                  absl::string_view scales) {
  Element element;
  bool known = false;
  for (const FetchName& name : kFetches) {
    if (scales != name.name) continue;
    element.scales = name.fetch;
    known = true;
  }
  if (!known) {
    return absl::InternalError(absl::StrCat("scales \"", scales, "\""));
  }
  for (const FormatName& name : kFormats) {
    if (dtype != name.name) continue;
    element.type = kI8;
    element.format = name.format;
    return element;
  }
  INGOT_ASSIGN_OR_RETURN(element.type, TypeOf(dtype));
  return element;
}

}  // namespace ingot::tile
