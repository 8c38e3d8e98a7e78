# The checkout keeps every rule of rules.sh.
set -euo pipefail
source tests/layering/rules.sh

breaches=0
for rule in "${all_rules[@]}"; do
  found=$("rule_$rule") || { echo "$rule could not run"; exit 1; }
  [[ -z $found ]] && continue
  printf '%s:\n%s\n\n' "$rule" "$found"
  breaches=$((breaches + $(wc -l <<<"$found")))
done
echo "${#all_rules[@]} rules, $(code_files | wc -l) sources, $breaches breaches"
((breaches == 0))
