#!/usr/bin/env bash
# Builds libjostle and installs it: headers, shared and static library, pkg-config, CMake package.
#
#   crates/capi/install.sh [--profile dev|release] PREFIX
#
# Then: cc example.c $(pkg-config --cflags --libs jostle), or find_package(jostle) in CMake, or with
# a prefix that the compiler searches anyway: cc example.c -ljostle
set -eu
profile=release prefix=
while [[ $# -gt 0 ]]; do
  case $1 in
    --profile) profile=${2:?--profile needs dev or release}; shift 2 ;;
    -*) echo "install.sh: unknown option $1" >&2; exit 2 ;;
    *) prefix=$1; shift ;;
  esac
done
[[ -n $prefix ]] || { echo "usage: install.sh [--profile dev|release] PREFIX" >&2; exit 2; }
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cd "$(dirname "$0")/../.."

cargo build --locked --quiet --profile "$profile" -p jostle-capi
built=${CARGO_TARGET_DIR:-target}/$([[ $profile == dev ]] && echo debug || echo "$profile")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
abi=$(sed -n 's/^#define JOSTLE_ABI_VERSION \([0-9]*\)$/\1/p' crates/capi/include/jostle.h)
# What the static library needs besides itself, as `rustc --print native-static-libs` says.
needs="-lpthread -ldl -lm -lc"

mkdir -p "$prefix"/{include,lib/pkgconfig,lib/cmake/jostle}
cp crates/capi/include/jostle.h crates/capi/include/jostle.hpp "$prefix/include/"
cp "$built/libjostle.a" "$prefix/lib/"
if [[ -e $built/libjostle.dylib ]]; then
  shared=libjostle.dylib
  cp "$built/$shared" "$prefix/lib/libjostle.$abi.dylib"
  ln -sf "libjostle.$abi.dylib" "$prefix/lib/$shared"
else
  shared=libjostle.so
  cp "$built/$shared" "$prefix/lib/libjostle.so.$abi"
  ln -sf "libjostle.so.$abi" "$prefix/lib/$shared"
fi

cat >"$prefix/lib/pkgconfig/jostle.pc" <<PC
prefix=\${pcfiledir}/../..
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: jostle
Description: Which of a million moving boxes touch, exactly; shapes and contacts too
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -ljostle
Libs.private: $needs
PC

cat >"$prefix/lib/cmake/jostle/jostleConfig.cmake" <<CMAKE
# Targets: jostle::jostle (shared) and jostle::static.
get_filename_component(_jostle_prefix "\${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET jostle::jostle)
  add_library(jostle::jostle SHARED IMPORTED)
  set_target_properties(jostle::jostle PROPERTIES
    IMPORTED_LOCATION "\${_jostle_prefix}/lib/$shared"
    INTERFACE_INCLUDE_DIRECTORIES "\${_jostle_prefix}/include")
  add_library(jostle::static STATIC IMPORTED)
  set_target_properties(jostle::static PROPERTIES
    IMPORTED_LOCATION "\${_jostle_prefix}/lib/libjostle.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${_jostle_prefix}/include"
    INTERFACE_LINK_LIBRARIES "$needs")
endif()
set(jostle_FOUND TRUE)
unset(_jostle_prefix)
CMAKE
cat >"$prefix/lib/cmake/jostle/jostleConfigVersion.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
CMAKE
echo "installed libjostle $version (interface $abi) in $prefix"
