# The rules of the tree, as functions over the checkout in the working
# directory. Each prints one line a breach, "path:line: what", and nothing when
# there is none. Sourced by the tests beside it; only bash, grep, sed and find.

components=(proto compiler cache server client deploy tests bench)
code_components=(proto compiler cache server client tests bench)

# Files that git would see, without needing git: a source archive is checked too.
tree_files() {
  find . \( -path ./build -o -path ./.git -o -path ./.cache \) -prune -o -type f \( "${@:--true}" \) -print |
    sed 's,^\./,,' | sort
}

code_files() { tree_files -regex '.*\.\(h\|c\|cc\)'; }

# "path:line:included" for each include of FILE...; angle brackets and quotes alike.
includes_of() {
  [[ $# -gt 0 ]] || return 0
  grep -nHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' "$@" |
    sed -E 's/#[[:space:]]*include[[:space:]]*[<"]//; s/:[[:space:]]*([^:]*)$/:\1/' || true
}

# What FOLDER may include of this project, besides itself.
allowed_of() {
  case $1 in
    compiler | cache) echo 'proto/status\.h' ;;
    proto) echo 'ingot/v1/.*' ;;
    client) echo 'proto/.*|ingot/.*' ;;
    server) echo 'proto/.*|ingot/v1/.*|compiler/.*|cache/.*' ;;
    tests | bench) echo '.*' ;;
  esac
}

# Includes by FILE... of what is in this project but not ALLOWED.
foreign_includes() {
  local component=$1 allowed=$2
  shift 2
  includes_of "$@" | grep -E ':(proto|compiler|cache|server|client|tests|bench|ingot)/[^:]*$' |
    grep -vE ":($allowed)$" | sed "s/$/: $component may not include this/" || true
}

# The one-way rule. A component's own tests may also use tests/.
rule_one_way() {
  local component own sources tests
  for component in "${code_components[@]}"; do
    own="$component/.*|$(allowed_of "$component")"
    mapfile -t sources < <(code_files | grep "^$component/" | grep -vE '_test\.(c|cc)$')
    mapfile -t tests < <(code_files | grep -E "^$component/.*_test\.(c|cc)$")
    foreign_includes "$component" "$own" "${sources[@]}"
    foreign_includes "$component" "$own|tests/.*" "${tests[@]}"
  done
}

# Includes of FOLDER's sources (its tests left out) that match PATTERN.
forbid_includes() {
  local reason=$1 pattern=$2
  shift 2
  includes_of "$@" | grep -E ":($pattern)" | sed "s|$|: $reason|" || true
}

# Libraries by the border they must not cross.
rule_libraries() {
  local files
  mapfile -t files < <(code_files | grep -E '^(compiler|cache)/' | grep -v '_test\.')
  forbid_includes 'compiler and cache know neither wire nor RPC' 'grpc|google/protobuf|ingot/v1/' "${files[@]}"
  mapfile -t files < <(code_files | grep -E '^(cache|server|proto)/' | grep -vE '^server/worker/|_test\.')
  forbid_includes 'LLVM belongs to the worker' 'llvm|mlir|lld/' "${files[@]}"
  # ctl/ is a program of its own and may link what it likes; examples are users'.
  mapfile -t files < <(code_files | grep '^client/' | grep -vE '^client/(ctl|examples)/|_test\.')
  forbid_includes 'the client lives in processes that have their own' \
    'grpc|google/protobuf|absl/|llvm|mlir|lld/|rocksdb/|hip/' "${files[@]}"
}

# The half that the daemon links: no LLVM, nor a header of the code half.
planning_files() {
  code_files | grep -E '^compiler/([^/]*\.(h|cc)|ops/(op\.h|registry\.(h|cc)|[^/]*_plan\.(h|cc)))$' |
    grep -vE '^compiler/(compile|disassemble)\.cc$|_test\.' || true
}

rule_planning_half() {
  local files
  mapfile -t files < <(planning_files)
  forbid_includes 'the planning half has no LLVM' 'llvm|mlir|lld/' "${files[@]}"
  forbid_includes 'the planning half does not see the code half' 'compiler/(tile|passes|target)/' "${files[@]}"
}

# Op bodies compile in seconds because the header they are written with shows
# no dialect.
rule_builder_header() {
  local files
  mapfile -t files < <(code_files | grep -E '^compiler/(tile/builder\.h|ops/[^/]*_body\.(h|cc))$' || true)
  forbid_includes 'dialects stay behind tile/builder.h' 'llvm|mlir' "${files[@]}"
}

# `x.cc` begins with its own `x.h`, so that the build proves each header
# complete; headers with no source are compiled alone by the header check.
rule_own_header_first() {
  local header source first
  for header in $(code_files | grep '\.h$'); do
    for source in "${header%.h}.cc" "${header%.h}.c"; do
      [[ -f $source ]] || continue
      first=$(includes_of "$source" | head -1)
      [[ $first == *":$header" || $first == *":${header#client/include/}" ]] ||
        echo "$source:1: the first include is not its own \"$header\""
    done
  done
}

rule_include_guards() {
  local header guard
  for header in $(code_files | grep '\.h$'); do
    guard=INGOT_$(sed -E 's,^client/include/ingot/,,; s,[/.-],_,g' <<<"$header" | tr '[:lower:]' '[:upper:]')_
    grep -qE '^#pragma once|^#ifndef ([A-Z_]*_)?[A-Z0-9_]+_H_$' "$header" ||
      echo "$header:1: no include guard, as $guard"
  done
}

# Paths in prose: in backticks or as link targets. A path may be written from
# the root or from the folder of the page.
rule_paths_in_prose() {
  local page path
  for page in $(tree_files -name '*.md'); do
    { grep -noE '`(\./)?(proto|compiler|cache|server|client|deploy|tests|bench|\.ci)/[A-Za-z0-9_./+-]*`' "$page" | tr -d '`'
      grep -noE '\]\([^)#[:space:]]+' "$page" | sed 's/](//' | grep -vE ':(https?|mailto):'
      true; } |
      while IFS=: read -r line path; do
        [[ -e $path || -e $(dirname "$page")/$path ]] || echo "$page:$line: $path does not exist"
      done
  done
}

# FAULTS.md names tests; a test that was renamed or dropped leaves a row without
# its proof.
rule_faults() {
  local page=tests/FAULTS.md known line name
  [[ -f $page ]] || return 0
  known=$(grep -rhoE '^TEST(_F|_P)?\([A-Za-z]+, [A-Za-z0-9]+' --include='*_test.cc' "${code_components[@]}" |
    sed 's/.*, //')
  grep -noE '`[A-Z][A-Za-z0-9]+`' "$page" | tr -d '`' |
    while IFS=: read -r line name; do
      grep -qxF "$name" <<<"$known" || echo "$page:$line: no test is called $name"
    done
}

rule_readmes() {
  local component lines
  for component in "${components[@]}"; do
    [[ -d $component ]] || continue
    if [[ ! -f $component/README.md ]]; then
      echo "$component/README.md:1: missing"
    else
      lines=$(wc -l <"$component/README.md")
      ((lines <= 40)) || echo "$component/README.md:$lines: longer than 40 lines"
    fi
  done
}

# Text that does not belong in the tree. The patterns are split so that this
# file does not match itself.
rule_words() {
  local files
  mapfile -t files < <(tree_files -regex '.*\.\(h\|c\|cc\|md\|sh\|cmake\|proto\|txt\|py\|json\|toml\|service\)' -o -path ./dev)
  grep -nHE '\b(TO''DO|FIX''ME|XX''X)\b' "${files[@]}" | sed 's/$/: open end/' || true
  grep -nHE '^(<<<''<<<<|>>>''>>>>|====''===$)' "${files[@]}" | sed 's/$/: conflict marker/' || true
  grep -nHE '(^|[^A-Za-z0-9_.-])/(work|root)''/[A-Za-z0-9]' "${files[@]}" | sed 's/$/: a path of one machine/' || true
  grep -nHiE '\b(issue|ticket|pull request|PR) ?#[0-9]+' "${files[@]}" | sed 's/$/: number of a ticket/' || true
  grep -nHiE '\b(pypi|npmjs|crates|maven)\.(org|com|io)|files\.pythonhosted' "${files[@]}" |
    grep -v '^tests/layering/' | sed 's/$/: host of a package registry/' || true
}

rule_text() {
  local files
  mapfile -t files < <(code_files)
  [[ ${#files[@]} -gt 0 ]] || return 0
  grep -nHP '\t' "${files[@]}" | sed 's/:.*/&/; s/$/ : tab/' || true
  grep -nHE '[[:space:]]+$' "${files[@]}" | sed 's/$/: space at the end of the line/' || true
  grep -nHP '\r' "${files[@]}" | sed 's/$/: carriage return/' || true
}

# A value in, a value out: the compiler has no threads, clock of the world,
# network or environment of its own.
rule_pure_compiler() {
  local files
  mapfile -t files < <(code_files | grep '^compiler/' | grep -v '_test\.' || true)
  forbid_includes 'the compiler is pure' '(thread|mutex|future|condition_variable|sys/socket\.h|pthread\.h|ctime|time\.h)$' "${files[@]}"
  [[ ${#files[@]} -gt 0 ]] || return 0
  grep -nHE '\b(getenv|secure_getenv|gethostname|system_clock)\b' "${files[@]}" | sed 's/$/: the compiler is pure/' || true
}

all_rules=(one_way libraries planning_half builder_header own_header_first include_guards
           paths_in_prose faults readmes words text pure_compiler)
