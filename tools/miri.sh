#!/usr/bin/env bash
# Looks for undefined behaviour with Miri, an interpreter: in the kernels of `simd/` at every level
# that it knows, in the structures of `ds/`, and in a short history with every algorithm.
# Takes about twenty minutes on one core; not part of test.sh, because it needs a nightly toolchain:
#
#   rustup component add miri rust-src --toolchain nightly
#   tools/miri.sh
set -eu
cd "$(dirname "$0")/.."

# Miri says that a processor has what the code is compiled for.
avx2=+ssse3,+sse4.1,+popcnt,+avx2,+bmi1,+bmi2,+lzcnt
export RUSTFLAGS="-C target-feature=$avx2"
export MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-disable-isolation"
export PROPTEST_CASES="${PROPTEST_CASES:-4}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
summary=

run() {
  local name=$1
  shift
  echo "=== $name"
  SECONDS=0
  cargo +nightly miri test --locked -p jostle "${features:---no-default-features}" "$@" 2>&1 |
    tee "$log"
  [ "${PIPESTATUS[0]}" = 0 ] || { echo "Miri: $name FAILED"; exit 1; }
  summary+="  $name: $(grep -o '[0-9]* passed' "$log") in $SECONDS s"$'\n'
}

run "kernels at every level" --lib -- -Zunstable-options --report-time simd::
run "data structures" --lib -- -Zunstable-options --report-time \
  ds::pair_sort ds::radix_sort ds::regions ds::succ_tree
features=--all-features run "threads" --lib -- -Zunstable-options --report-time par::team
run "histories with AVX2" --test small_histories -- --nocapture
JOSTLE_SIMD=portable run "histories with portable code" --test small_histories -- --nocapture
echo "Miri found nothing:"
printf %s "$summary"
