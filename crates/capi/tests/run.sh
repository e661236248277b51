#!/usr/bin/env bash
# Compiles and runs the examples in C and C++ with gcc and clang, warnings as errors, from an
# installed prefix; then under AddressSanitizer and UBSan, with a fuzz of all calls.
#
#   crates/capi/tests/run.sh [CALLS OF THE FUZZ]
set -eu
cd "$(dirname "$0")/../../.."
calls=${1:-100000}
work=$PWD/target/capi
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work"
crates/capi/install.sh --profile dev "$prefix"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export LD_LIBRARY_PATH=$prefix/lib
# shellcheck disable=SC2207 # words of flags
flags=($(pkg-config --cflags jostle)) shared=($(pkg-config --libs jostle))
# shellcheck disable=SC2207
static=($(pkg-config --cflags jostle) "$prefix/lib/libjostle.a"
  $(pkg-config --libs --static jostle | sed 's/-ljostle//'))
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O1 -g)
sanitize=(-fsanitize=address,undefined -fno-sanitize-recover=all)
source=crates/capi

build_and_run() { # name, then a compiler and its arguments
  local name=$1
  shift
  "$@" -o "$work/$name"
  echo "--- $name"
  "$work/$name" >"$work/$name.txt" || { cat "$work/$name.txt"; return 1; }
}

for compiler in gcc clang; do
  plus=$([[ $compiler == gcc ]] && echo g++ || echo clang++)
  build_and_run "c-$compiler" "$compiler" -std=c99 "${strict[@]}" "${flags[@]}" \
    $source/examples/example.c "${shared[@]}" -lm
  for standard in 17 20; do
    build_and_run "c++$standard-$compiler" "$plus" "-std=c++$standard" "${strict[@]}" \
      "${flags[@]}" $source/examples/example.cpp "${shared[@]}"
  done
  # The header alone is C++ too.
  echo '#include <jostle.h>' | "$plus" -std=c++11 "${strict[@]}" "${flags[@]}" -x c++ -c - \
    -o "$work/header.o"
done
# As one would with a prefix that the compiler searches.
export C_INCLUDE_PATH=$prefix/include LIBRARY_PATH=$prefix/lib
build_and_run plain cc $source/examples/example.c -ljostle -lm

for compiler in gcc clang; do
  plus=$([[ $compiler == gcc ]] && echo g++ || echo clang++)
  if ! echo 'int main(void){return 0;}' |
    "$compiler" "${sanitize[@]}" -x c - -o "$work/probe" 2>/dev/null; then
    echo "--- $compiler has no sanitizers here"
    continue
  fi
  build_and_run "c-$compiler-asan" "$compiler" -std=c99 "${strict[@]}" "${sanitize[@]}" \
    $source/examples/example.c "${static[@]}" -lm
  build_and_run "c++-$compiler-asan" "$plus" -std=c++17 "${strict[@]}" "${sanitize[@]}" \
    $source/examples/example.cpp "${static[@]}"
  build_and_run "fuzz-$compiler-asan" "$compiler" -std=c99 "${strict[@]}" "${sanitize[@]}" \
    $source/tests/fuzz.c "${static[@]}" -lm
  for seed in 2 3; do
    "$work/fuzz-$compiler-asan" "$seed" "$calls"
  done
done

if command -v cmake >/dev/null; then
  mkdir -p "$work/cmake"
  cat >"$work/cmake/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(example C CXX)
find_package(jostle 0.1 REQUIRED)
add_executable(shared $PWD/$source/examples/example.c)
target_link_libraries(shared jostle::jostle m)
add_executable(static $PWD/$source/examples/example.cpp)
target_compile_features(static PRIVATE cxx_std_17)
target_link_libraries(static jostle::static)
CMAKE
  cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/cmake/build" >/dev/null
  echo "--- CMake"
  "$work/cmake/build/shared" >/dev/null && "$work/cmake/build/static" >/dev/null
fi
