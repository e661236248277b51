#!/usr/bin/env bash
# Everything that has to hold, in one command: formatting, lints, documentation, every test with
# and without threads, the README's commands, a short soak of random histories, and the fuzz targets
# of meshes for a moment. Needs cargo and a C compiler; crates come from the lock files.
# Targets and tools for other platforms are installed if that can be done, and skipped if not.
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
# Compiling once from nothing takes less without what the next compilation could reuse.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
# The same random cases on every machine; the soak and the fuzz targets look for new ones.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}

only=${1:-}
passed=() failed=() skipped=()
start=$SECONDS
mkdir -p target

step() {
  local name=$1
  shift
  [[ -z $only || $name == *"$only"* ]] || return 0
  echo "=== $name"
  local began=$SECONDS code=0
  "$@" || code=$?
  if [[ $code -eq 0 ]]; then
    passed+=("$name ($((SECONDS - began)) s)")
  elif [[ $code -eq $cannot ]]; then
    skipped+=("$name: could not be run: $reason")
    echo "??? $name could not be run: $reason" >&2
  else
    failed+=("$name")
    echo "!!! $name failed" >&2
  fi
}

# A step that lacks a target or a tool says `need_… || return` and is listed as skipped.
cannot=77 reason=

need_target() {
  rustup target add "$1" >/dev/null 2>&1 && return
  rustup target list --installed 2>/dev/null | grep -qx "$1" && return
  reason="'rustup target add $1' failed"
  return $cannot
}

need_toolchain() {
  rustup toolchain install "$1" --profile minimal >/dev/null 2>&1 && return
  cargo "+$1" --version >/dev/null 2>&1 && return
  reason="'rustup toolchain install $1' failed"
  return $cannot
}

need() { # what is missing, Debian packages, a test that it is there
  local what=$1 package=$2
  shift 2
  "$@" >/dev/null && return
  if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    ( # One lane at a time.
      flock 9
      apt-get update -qq
      # shellcheck disable=SC2086 # several packages
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $package
    ) >/dev/null 2>&1 9>target/apt.lock
    "$@" >/dev/null && return
  fi
  reason="$what is missing (Debian: $package)"
  return $cannot
}

need_command() { # command, Debian package
  need "$1" "$2" command -v "$1"
}

# The musl targets bring their C library and are linked by Rust's own linker: no cross compiler.
on_i686() { # arguments of cargo test
  CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld \
    cargo test --locked --target i686-unknown-linux-musl "$@"
}

# Steps that run the same tests again, on another platform or in another form, take fewer random
# cases of each.
few_cases=64

i686() {
  need_target i686-unknown-linux-musl || return
  PROPTEST_CASES=$few_cases on_i686 -p jostle --lib && on_i686 -p jostle-testkit --test golden
}

on_aarch64() { # arguments of cargo test
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld \
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64 \
    cargo test --locked --target aarch64-unknown-linux-musl "$@"
}

# Emulated, so with fewer random cases, without the tests of shapes, and with the algorithms only as
# the golden scenes show them.
aarch64() {
  need_target aarch64-unknown-linux-musl && need_command qemu-aarch64 qemu-user || return
  PROPTEST_CASES=32 on_aarch64 -p jostle --lib -- simd:: ds:: aabb:: broad::shared &&
    on_aarch64 -p jostle-testkit --test golden
}

lowest_rust() {
  local version
  version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' crates/jostle/Cargo.toml)
  need_toolchain "$version" || return
  cargo "+$version" check --locked -p jostle --lib --all-features
}

wasm() { # flags for rustc
  RUSTFLAGS="$1" cargo build --locked --release -p jostle-wasm-test --quiet \
    --target wasm32-unknown-unknown &&
    node crates/wasm-test/run.mjs \
      "$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/jostle_wasm_test.wasm"
}

wasm32() {
  need_target wasm32-unknown-unknown && need_command node nodejs || return
  wasm "" && wasm "-C target-feature=+simd128"
}

# Steps below name the whole workspace even where they run one program of it: its features are then
# those of the tests, and nothing is compiled twice.
portable_simd() {
  JOSTLE_SIMD=portable PROPTEST_CASES=$few_cases cargo test --locked --workspace \
    --exclude jostle-gpu --lib --test conformance --test golden -- \
    --skip worlds_above_every_threshold
}

without_threads() {
  PROPTEST_CASES=$few_cases cargo test --locked -p jostle --no-default-features --lib
}

soak() {
  cargo build --locked --quiet --workspace --bin soak || return
  target/debug/soak --histories 600 --seed 1 &
  local other=$! code=0
  target/debug/soak --histories 600 --seed 2 || code=$?
  wait "$other" && return "$code"
}

# The fuzz targets of meshes, each for a moment and from the same seed: with the flags of cargo-fuzz
# that a stable compiler has, so that coverage leads them, and without its sanitizers.
fuzz() {
  need_command g++ g++ || return
  local host target counters=-Cllvm-args=-sanitizer-coverage
  host=$(rustc -vV | sed -n 's/^host: //p')
  RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module $counters-level=4 $counters-pc-table \
    $counters-inline-8bit-counters $counters-trace-compares" \
    cargo build --locked --release --quiet --manifest-path fuzz/Cargo.toml --target "$host" \
    --bin mesh_files --bin meshes || return
  for target in mesh_files meshes; do
    "$CARGO_TARGET_DIR/$host/release/$target" -seed=1 -runs=100000 -max_total_time=20 -verbosity=0 \
      -max_len=4096 -rss_limit_mb=1024 -timeout=10 -artifact_prefix="$CARGO_TARGET_DIR/" || return
  done
}

# Mesa's software Vulkan, on which the GPU's tests run.
vulkan() {
  need "a software Vulkan driver" "mesa-vulkan-drivers libvulkan1" \
    compgen -G "/usr/share/vulkan/icd.d/lvp_icd*.json" && return
  export JOSTLE_TEST_WITHOUT_GPU=1
  return $cannot
}

tests() {
  local gpu=()
  [[ -z ${JOSTLE_TEST_WITHOUT_GPU:-} ]] || gpu=(--exclude jostle-gpu)
  export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}
  cargo test --locked --workspace ${gpu[@]+"${gpu[@]}"} --no-fail-fast
}

# Ranks of an MPI job on this machine: 1, 2, 3, 4 and 7 of them. The bindings are generated with
# libclang when the feature is built.
mpi() {
  need_command mpicc libopenmpi-dev && need_command mpirun openmpi-bin &&
    need libclang libclang-dev compgen -G "/usr/lib/llvm-*/lib/libclang.so*" || return
  cargo test --locked --workspace --features jostle-mpi/mpi --test mpirun
}

# An environment of its own in target/, with the package installed as users install it: by pip, from
# the crate, in release.
python() {
  need "python3 with venv" "python3 python3-venv" python3 -c "import ensurepip, venv" || return
  local env=$PWD/target/python packages=crates/python/tests/requirements.txt
  [[ -x $env/bin/python ]] || python3 -m venv "$env" || return
  if ! "$env/bin/pip" install --quiet --disable-pip-version-check -r "$packages"; then
    reason="the packages in $packages could not be had from PyPI"
    return $cannot
  fi
  PATH=$env/bin:$PATH MATURIN_PEP517_ARGS=--locked "$env/bin/pip" install --quiet --no-deps \
    --disable-pip-version-check --force-reinstall --no-build-isolation ./crates/python &&
    "$env/bin/python" -m pytest -p no:cacheprovider -rs crates/python/tests
}

c_and_cpp() {
  need_command gcc gcc && need_command g++ g++ && need_command clang "clang libclang-rt-dev" &&
    need_command pkg-config pkg-config && need_command cmake cmake || return
  crates/capi/tests/run.sh
}

# A real browser looks at the viewer; its packages come from the lock file. Node also builds the
# page again and compares.
browser() {
  need_command node nodejs && need_command npm npm && need_command chromium chromium &&
    need "a software OpenGL driver" "libegl1 libgl1-mesa-dri mesa-vulkan-drivers" \
      compgen -G "/usr/lib/*/dri/swrast_dri.so" || return
  (cd crates/viewer/web && npm ci --no-audit --no-fund --silent) || {
    reason="'npm ci' in crates/viewer/web failed"
    return $cannot
  }
  cargo build --locked --quiet --workspace --bin jostle &&
    (cd crates/viewer/web && npm test --silent)
}

documentation() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet; }
# Packs the crates for users; `cargo package` without --no-verify compiles each package as well.
packages() {
  cargo package --locked --offline --no-verify --allow-dirty --quiet \
    -p jostle -p jostle-scenes -p jostle-gpu -p jostle-mpi -p jostle-viewer -p jostle-cli
}
demo() { cargo run --locked --release --quiet; }

# Other platforms, other features and what users build are a lane of their own, next to the tests:
# compilers wait for each other less than they leave a second core idle. Its output comes at the
# end, whole.
second_lane() {
  passed=() failed=() skipped=()
  export CARGO_TARGET_DIR=$PWD/target/lane
  step "tests on i686" i686
  step "tests on aarch64" aarch64
  step "scenes on wasm32" wasm32
  step "lowest Rust version" lowest_rust
  step "tests without threads" without_threads
  step "Python" python
  step "the main job" demo
  step "fuzz targets of meshes" fuzz
  {
    for name in ${passed[@]+"${passed[@]}"}; do printf 'passed+=(%q)\n' "$name"; done
    for name in ${skipped[@]+"${skipped[@]}"}; do printf 'skipped+=(%q)\n' "$name"; done
    for name in ${failed[@]+"${failed[@]}"}; do printf 'failed+=(%q)\n' "$name"; done
  } >target/lane.results
}
rm -f target/lane.results
second_lane >target/lane.log 2>&1 &
lane=$!
trap 'kill "$lane" 2>/dev/null' EXIT

step "format" cargo fmt --all --check
step "lint of the source" cargo run --locked --quiet -p jostle-lint
step "lint" cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
step "documentation" documentation
step "software Vulkan" vulkan
step "tests" tests
step "tests with portable SIMD" portable_simd
step "viewer in a browser" browser
step "packages" packages
step "tests over MPI" mpi
step "soak" soak
step "C and C++" c_and_cpp

wait "$lane"
trap - EXIT
cat target/lane.log
# shellcheck disable=SC1091 # written by the lane
source target/lane.results || failed+=("the second lane: it broke off")

if [[ $((${#passed[@]} + ${#failed[@]} + ${#skipped[@]})) -eq 0 ]]; then
  echo "test.sh: no step's name contains '$only'" >&2
  exit 2
fi
echo
echo "=== summary after $((SECONDS - start)) s"
for name in ${passed[@]+"${passed[@]}"}; do echo "passed  $name"; done
for name in ${skipped[@]+"${skipped[@]}"}; do echo "skipped $name"; done
for name in ${failed[@]+"${failed[@]}"}; do echo "FAILED  $name"; done
counts="${#passed[@]} passed, ${#failed[@]} failed"
[[ ${#skipped[@]} -eq 0 ]] || counts+=", ${#skipped[@]} skipped"
echo "$counts"
[[ ${#failed[@]} -eq 0 && ${#passed[@]} -gt 0 ]]
