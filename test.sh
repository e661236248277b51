#!/usr/bin/env bash
# Everything that has to hold, in one command: formatting, lints, documentation, every test with
# and without threads, the README's commands, and a short soak of random histories.
# Needs cargo and a C compiler (for the fuzz target's runtime only); crates come from the lock file.
#
#   ./test.sh            all of it
#   ./test.sh lint       only the steps whose name contains a word
set -u
cd "$(dirname "$0")" || exit 2

if ! command -v cargo >/dev/null 2>&1; then
  echo "test.sh: cargo is missing; install Rust 1.95 or later with rustup" >&2
  exit 2
fi
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
export RUST_BACKTRACE=${RUST_BACKTRACE:-1}

only=${1:-}
passed=() failed=()
start=$SECONDS

step() {
  local name=$1
  shift
  [[ -z $only || $name == *"$only"* ]] || return 0
  echo "=== $name"
  local began=$SECONDS
  if "$@"; then
    passed+=("$name ($((SECONDS - began)) s)")
  else
    failed+=("$name")
    echo "!!! $name failed" >&2
  fi
}

documentation() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet; }
demo() { cargo run --locked --release --quiet; }

step "format" cargo fmt --all --check
step "lint of the source" cargo run --locked --quiet -p jostle-lint
step "lint" cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
step "documentation" documentation
step "tests" cargo test --locked --workspace --no-fail-fast
step "tests without threads" cargo test --locked -p jostle --no-default-features --lib
step "tests with serde" cargo test --locked -p jostle --all-features --lib
step "soak" cargo run --locked --quiet -p jostle-testkit --bin soak -- --seconds 20 --seed 1
step "the main job" demo

echo
echo "=== summary after $((SECONDS - start)) s"
for name in ${passed[@]+"${passed[@]}"}; do echo "passed  $name"; done
for name in ${failed[@]+"${failed[@]}"}; do echo "FAILED  $name"; done
echo "${#passed[@]} passed, ${#failed[@]} failed"
[[ ${#failed[@]} -eq 0 && ${#passed[@]} -gt 0 ]]
