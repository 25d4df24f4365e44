# shellcheck shell=bash
# tests/kernels.sh: for scripts that build the kernels for the CPU.

# A g++ that keeps what it compiles: several scripts build the same files, each in a folder of its own. Everything that it
# compiles has the same flags, WERROR=1 among them. CCACHE_DEPEND: the compiler lists what a file includes anyway (-MMD),
# so that nothing is preprocessed a second time for it.
# shellcheck disable=SC2034 # for the scripts that read this file
KERNELS_CXX=g++
! command -v ccache >/dev/null || KERNELS_CXX="env CCACHE_DIR=${BUILD%/sanitize}/ccache CCACHE_DEPEND=1 CCACHE_SLOPPINESS=locale ccache g++"
