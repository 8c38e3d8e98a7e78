# Each rule of rules.sh sees a breach planted in a small clean tree, and nothing
# in the tree without it.
set -euo pipefail
source tests/layering/rules.sh

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0

# A tree that keeps every rule, anew for each case.
clean_tree() {
  rm -rf "${root:?}"/*
  cd "$root"
  local component
  for component in "${components[@]}"; do
    mkdir -p "$component"
    printf '# %s\n\nSee `compiler/ops/op.h`.\n' "$component" >"$component/README.md"
  done
  mkdir -p compiler/ops compiler/tile client/include/ingot
  local header guard
  for header in proto/status.h compiler/plan.h compiler/ops/op.h compiler/tile/builder.h cache/store.h server/wire.h; do
    guard=INGOT_$(tr '[:lower:]/.' '[:upper:]__' <<<"$header")_
    printf '#ifndef %s\n#define %s\n#include <string>\n#endif\n' "$guard" "$guard" >"$header"
  done
  printf '#ifndef INGOT_INGOT_H_\n#define INGOT_INGOT_H_\n#endif\n' >client/include/ingot/ingot.h
  printf '#include "compiler/plan.h"\n\n#include "proto/status.h"\n' >compiler/plan.cc
  printf '#include "server/wire.h"\n\n#include "cache/store.h"\n#include "compiler/plan.h"\n' >server/wire.cc
  printf '#include "compiler/ops/op.h"\n' >compiler/ops/gemm_plan.cc
  printf '#include "compiler/tile/builder.h"\n' >compiler/ops/gemm_body.cc
  printf '#include "mlir/IR/Builders.h"\n' >compiler/tile/dialects.cc
}

# plant RULE FILE LINE: in a clean tree with LINE appended to FILE, RULE names FILE.
plant() {
  local rule=$1 file=$2 line=$3 found
  clean_tree
  found=$("rule_$rule")
  [[ -z $found ]] || { echo "$rule: a breach in the clean tree: $found"; failures=$((failures + 1)); }
  mkdir -p "$(dirname "$file")"
  printf '%b\n' "$line" >>"$file"
  found=$("rule_$rule")
  [[ $found == "$file:"* ]] || { echo "$rule: did not see '$line' in $file, but: $found"; failures=$((failures + 1)); }
}

plant one_way compiler/plan.cc '#include "cache/store.h"'
plant one_way compiler/plan.cc '  #  include <proto/canonical.h>'
plant one_way cache/store.h '#include "compiler/plan.h"'
plant one_way proto/status.h '#include "server/wire.h"'
plant one_way client/loader.cc '#include "server/wire.h"'
plant one_way client/loader.cc '#include "compiler/plan.h"'
plant one_way cache/store_test.cc '#include "server/wire.h"'
plant one_way compiler/plan.cc '#include "tests/emulator/wave.h"'
plant libraries cache/disk.cc '#include "ingot/v1/record.pb.h"'
plant libraries compiler/plan.cc '#include <google/protobuf/message.h>'
plant libraries server/pool.cc '#include "llvm/Support/Error.h"'
plant libraries client/loader.cc '#include "absl/strings/str_cat.h"'
plant planning_half compiler/plan.h '#include "llvm/ADT/StringRef.h"'
plant planning_half compiler/ops/gemm_plan.cc '#include "mlir/IR/Builders.h"'
plant planning_half compiler/ops/gemm_plan.cc '#include "compiler/tile/builder.h"'
plant faults tests/FAULTS.md '| 1 | a lost reply | `NoSuchTest` |'
plant builder_header compiler/tile/builder.h '#include "mlir/IR/Value.h"'
plant builder_header compiler/ops/gemm_body.cc '#include "mlir/IR/Value.h"'
plant own_header_first server/wire.c '#include <string>\n#include "server/wire.h"'
plant include_guards cache/entry.h '#include <string>'
plant paths_in_prose cache/README.md 'The store is `cache/nothing.cc`.'
plant paths_in_prose NOTES.md '[design](docs/nothing.md)'
plant readmes cache/README.md "$(yes 'a line' | head -40)"
plant words bench/run.cc "// TO""DO: later"
plant words bench/README.md "Run /wo""rk/bench."
plant words bench/README.md "See issue ""#12."
plant text cache/disk.cc 'int a;\tint b;'
plant text cache/disk.cc 'int a; '
plant text cache/disk.cc 'int a;\r'
plant pure_compiler compiler/plan.cc '#include <thread>'
plant pure_compiler compiler/plan.cc 'const char* home = getenv("HOME");'

clean_tree
rm cache/README.md
[[ $(rule_readmes) == 'cache/README.md:1: missing' ]] || { echo "readmes: a missing one was not seen"; failures=$((failures + 1)); }

echo "$failures failures"
((failures == 0))
