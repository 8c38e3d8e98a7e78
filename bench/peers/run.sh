# Compares with Triton and FlyDSL, which come into a Python environment under
# build/ and nowhere else: cold compiles, or with `kernels` what the compiled
# kernels are made of. Usage: run.sh BUILD_DIR [arguments of compare.py], or
# run.sh BUILD_DIR kernels [arguments of bench_kernels but --peers]. FlyDSL's own
# GEMMs take part when INGOT_FLYDSL_SOURCES names a checkout of its repository.
set -euo pipefail
build=$(realpath "$1")
shift
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
environment=$build/peers

# FlyDSL takes its argument types from torch: the distribution's is seen
# through --system-site-packages.
if [[ ! -e $environment/ready ]]; then
  /usr/bin/python3 -m venv --clear --system-site-packages "$environment"
  "$environment/bin/pip" install --quiet triton==3.9.0
  "$environment/bin/pip" install --quiet flydsl==0.5.0 || echo "flydsl could not be installed" >&2
  touch "$environment/ready"
fi

# FlyDSL links with the ld.lld of a ROCm tree; LLVM's own will do.
export ROCM_PATH=$environment/rocm
mkdir -p "$ROCM_PATH/llvm/bin" "$ROCM_PATH/amdgcn/bitcode"
ln -sf /usr/lib/llvm-22/bin/ld.lld "$ROCM_PATH/llvm/bin/ld.lld"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TRITON_CACHE_DIR=$scratch/triton FLYDSL_RUNTIME_CACHE_DIR=$scratch/flydsl PYTHONDONTWRITEBYTECODE=1
cd "$scratch"
if [[ ${1:-} == kernels ]]; then
  shift
  manifests=("$here"/../../tests/data/manifests/{gemm_bf16,gemm_models_bf16,scaled_gemm_mx,grouped_gemm}.jsonl)
  TRITON_DEFAULT_FP_FUSION=1 "$environment/bin/python" "$here/triton_rows.py" "$scratch/kernels" "${manifests[@]}"
  if [[ -n ${INGOT_FLYDSL_SOURCES:-} ]]; then
    "$environment/bin/python" "$here/flydsl_rows.py" "$scratch/kernels" "$INGOT_FLYDSL_SOURCES" "${manifests[@]}"
    # Speed is asked for here: its waves end before others meet a barrier, and
    # it orders transfers by more than waits.
    export INGOT_EMULATOR_CHECK_BARRIERS=0 INGOT_EMULATOR_CHECK_WAITS=0
  fi
  "$build/bin/bench_kernels" "${manifests[@]}" --peers "$scratch/kernels/launches.jsonl" "$@"
  exit
fi
"$environment/bin/python" "$here/compare.py" "$build/bin/bench_worker" "$@"
