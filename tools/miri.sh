#!/usr/bin/env bash
# Looks for undefined behaviour with Miri, an interpreter: in the kernels of `simd/` at every level
# that it knows, in the structures of `ds/`, and in a short history with every algorithm.
# Takes some minutes; not part of test.sh, because it needs a nightly toolchain:
#
#   rustup component add miri rust-src --toolchain nightly
#   tools/miri.sh
set -eu
cd "$(dirname "$0")/.."

# Miri says that a processor has what the code is compiled for.
avx2=+ssse3,+sse4.1,+popcnt,+avx2,+bmi1,+bmi2,+lzcnt
export MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-disable-isolation"
export PROPTEST_CASES="${PROPTEST_CASES:-4}"

run() { cargo +nightly miri test --locked -p jostle --no-default-features "$@"; }

echo "=== kernels and structures, portable code"
run --lib -- --skip one_long_row simd:: ds::pair_sort ds::regions ds::succ_tree \
  ds::radix_sort::tests::agrees ds::radix_sort::tests::ordered
echo "=== kernels, portable code, SSE4 and AVX2"
RUSTFLAGS="-C target-feature=$avx2" run --lib -- simd::
echo "=== a short history with every algorithm, AVX2"
RUSTFLAGS="-C target-feature=$avx2" run --test small_histories
