#!/bin/sh
# check.sh BUILD-FOLDER CC CMAKE GENERATOR -- installs the build into an empty prefix, moves that prefix,
# and uses it as others would: the tool, find_package, pkg-config (shared, then static).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 cc=$2 cmake=$3 generator=$4
folder=$build/consumer
rm -rf "$folder"
mkdir -p "$folder"
"$cmake" --install "$build" --prefix "$folder/first" >"$folder/install.log"
mv "$folder/first" "$folder/prefix"
prefix=$folder/prefix

echo "== the installed tool"
"$prefix/bin/fenchel" --version
for wanted in bin/fenchel include/fenchel/fenchel.h include/fenchel/version.h \
    share/man/man1/fenchel.1 share/bash-completion/completions/fenchel \
    share/zsh/site-functions/_fenchel share/fish/vendor_completions.d/fenchel.fish; do
    test -s "$prefix/$wanted" || { echo "not installed: $wanted"; exit 1; }
done

echo "== find_package"
"$cmake" -S "$here" -B "$folder/cmake" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" >"$folder/cmake.log"
"$cmake" --build "$folder/cmake" >>"$folder/cmake.log"
"$folder/cmake/consumer_shared"
"$folder/cmake/consumer_static"

echo "== pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fenchel.pc)")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir fenchel)
# shellcheck disable=SC2046
"$cc" -o "$folder/pkg_shared" "$here/consumer.c" $(pkg-config --cflags --libs fenchel)
LD_LIBRARY_PATH=$libraries "$folder/pkg_shared"
# shellcheck disable=SC2046
"$cc" -DFENCHEL_STATIC -o "$folder/pkg_static" "$here/consumer.c" $(pkg-config --cflags fenchel) \
    $(pkg-config --static --libs fenchel | sed "s#-lfenchel#$libraries/libfenchel.a#")
"$folder/pkg_static"
