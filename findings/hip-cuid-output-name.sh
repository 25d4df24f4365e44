#!/bin/sh
# clang 1:19.1.7-3~deb12u1 (Debian 12), seen on 2026-11-29.
#
# A code object for an AMD GPU has a variable __hip_cuid_HASH, and the hash is of the source's path and of all options of the command
# line. So the bytes of the object differ when only the name of the output differs, or only a warning is asked for; the instructions are
# the same. With -fuse-cuid=none the variable is there without a hash, and the bytes agree.
#
# Guessed: that one source at one place, with the same options for code, gives the same bytes, so that a hash of the file tells
# whether a kernel changed.
set -eu
version=1:19.1.7-3~deb12u1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
for package in clang-19 lld-19 llvm-19 libclang-common-19-dev libclang-cpp19 libllvm19; do
    apt-get download -q "$package=$version" >/dev/null
done
apt-get download -q libz3-4 libedit2 libxml2 libicu72 libbsd0 libmd0 libffi8 libtinfo6 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH="$tmp/root/usr/lib/x86_64-linux-gnu:$tmp/root/usr/lib/llvm-19/lib:$tmp/root/lib/x86_64-linux-gnu"
export PATH="$tmp/root/usr/lib/llvm-19/bin:$PATH"

cat >k.hip <<'SOURCE'
extern "C" __attribute__((global)) void twice(float *p)
{
    p[__builtin_amdgcn_workitem_id_x()] *= 2;
}
SOURCE
# build OUTPUT OPTION...
build() {
    out=$1 && shift
    clang -x hip --offload-arch=gfx942 -nogpulib -nogpuinc -O2 --cuda-device-only --no-gpu-bundle-output "$@" -o "$out" k.hip
    llvm-objcopy --dump-section=.text="$out.text" "$out" /dev/null
    llvm-readelf -s "$out" | sed -n "s/.* \(__hip_cuid_.*\)/$out: \1/p" | sort -u
}
same() { cmp -s "$1" "$2" && echo same || echo differ; }

clang --version | head -n 1
build one.o
build two.o
build warned.o -Wall
build plain_one.o -fuse-cuid=none
build plain_two.o -fuse-cuid=none -Wall
cp one.o first.o && build one.o
seen="again $(same first.o one.o), name $(same one.o two.o), -Wall $(same one.o warned.o), instructions $(same one.o.text warned.o.text)"
seen="$seen, -fuse-cuid=none $(same plain_one.o plain_two.o)"
echo "$seen"
[ "$seen" = "again same, name differ, -Wall differ, instructions same, -fuse-cuid=none same" ]
