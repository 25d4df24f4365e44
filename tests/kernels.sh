# shellcheck shell=bash
# tests/kernels.sh: for scripts that build the kernels for the CPU.

# A g++ with a cache, as several scripts build the same files, each in its own folder. Everything is compiled with the same
# flags, including WERROR=1. CCACHE_DEPEND: the compiler lists the included files anyway (-MMD), so that ccache need not
# preprocess.
# shellcheck disable=SC2034 # for the scripts that read this file
KERNELS_CXX=g++
! command -v ccache >/dev/null || KERNELS_CXX="env CCACHE_DIR=${BUILD%/sanitize}/ccache CCACHE_DEPEND=1 CCACHE_SLOPPINESS=locale ccache g++"
