#!/bin/sh
# Compiles for an AMD GPU that the installed hipcc does not support (Debian's 5.2.3 and gfx942), so that the kernels
# can be compiled for it on any machine.
#   amd-offline.sh mode HIPCC ARCH               prints hipcc, or offline if HIPCC does not support ARCH
#   amd-offline.sh device-libs ARCH DIR          creates DIR with the device libraries for ARCH
#   amd-offline.sh list ARCH BUILD OUT SOURCE    compiles a source's kernels to assembly, with KERNEL_FLAGS
#   amd-offline.sh assemble ARCH OUT LISTING     makes a code object of that
#   amd-offline.sh host ARCH BUILD OUT SOURCE    compiles a source's host code
#   amd-offline.sh link OUT OBJECT...            links such objects, without HIP's runtime
#   amd-offline.sh compiler                      prints the compiler's version
# Uses a newer clang (CLANGXX, default clang++-19; CLANG_FLAGS are added) with Debian's device libraries (BITCODE). Debian 12's
# lack one file for gfx942, which differs from gfx940's only in the ISA version.
set -eu

CLANGXX=${CLANGXX:-clang++-19}
LLVM_DIS=${LLVM_DIS:-llvm-dis-19}
LLVM_AS=${LLVM_AS:-llvm-as-19}
if [ -z "${BITCODE:-}" ]; then # Debian 12's place, then Debian 13's
    for BITCODE in /usr/lib/x86_64-linux-gnu/amdgcn/bitcode /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode; do
        [ ! -d "$BITCODE" ] || break
    done
fi

die() {
    echo "amd-offline.sh: $*" >&2
    exit 2
}

mode() {
    probe=$(mktemp -d)
    trap 'rm -rf "$probe"' EXIT
    echo 'int main() { return 0; }' >"$probe/probe.hip"
    case $1 in [!/]*/*) set -- "$PWD/$1" "$2" ;; esac
    if (cd "$probe" && "$1" --offload-arch="$2" -c -o probe.o probe.hip) >/dev/null 2>&1; then
        echo hipcc
    elif command -v "$CLANGXX" >/dev/null; then
        echo offline
    else
        echo hipcc # its own error message is the best one
    fi
}

device_libs() {
    version=${1#gfx}
    [ -e "$2/.complete" ] && return
    [ -d "$BITCODE" ] || die "no device libraries in $BITCODE: install rocm-device-libs"
    mkdir -p "$2"
    ln -sf "$BITCODE"/*.bc "$2/"
    if [ ! -e "$BITCODE/oclc_isa_version_$version.bc" ]; then
        [ "$version" = 942 ] || die "no device library for $1 in $BITCODE"
        "$LLVM_DIS" "$BITCODE/oclc_isa_version_940.bc" -o - | sed 's/i32 9400/i32 9402/' |
            "$LLVM_AS" - -o "$2/oclc_isa_version_942.bc"
    fi
    : >"$2/.complete"
}

clang() { # ARCH BUILD OUT SOURCE OPTIONS...
    arch=$1 build=$2 out=$3 source=$4
    shift 4
    device_libs "$arch" "$build/device-libs-$arch"
    # shellcheck disable=SC2086 # CLANG_FLAGS is words
    "$CLANGXX" -x hip --offload-arch="$arch" --rocm-device-lib-path="$build/device-libs-$arch" -std=c++17 \
        -Wall -DKS_PLATFORM_AMD ${CLANG_FLAGS:-} -I. -MMD -MP -MF "$out.d" "$@" -o "$out" "$source"
}

case ${1:-} in
mode) mode "$2" "$3" ;;
device-libs) device_libs "$2" "$3" ;;
list) # KERNEL_FLAGS is words
    # shellcheck disable=SC2086
    clang "$2" "$3" "$4" "$5" --offload-device-only -O3 ${KERNEL_FLAGS:-} -S
    ;;
assemble) "$CLANGXX" -x assembler -target amdgcn-amd-amdhsa -mcpu="$2" -o "$3" "$4" ;;
host) # only the table of variants includes a file that make writes
    generated=
    case $5 in */registry.cpp) generated=-I$3 ;; esac
    clang "$2" "$3" "$4" "$5" --offload-host-only -O1 -c ${generated:+"$generated"}
    ;;
link)
    out=$2
    shift 2
    "$CLANGXX" -no-pie -Wl,--unresolved-symbols=ignore-all,-z,muldefs -o "$out" "$@"
    ;;
compiler) "$CLANGXX" --version ;;
*) die "usage: mode|device-libs|list|assemble|host|link|compiler ..., see the head of the script" ;;
esac
