# shellcheck shell=bash
# tests/compiled.sh: for scripts that read what compilers for GPUs make of a source of their own. Source it after tests/lib.sh.

declare -A COMPILER=()

# compiler_of COMMAND: leaves in COMPILER[COMMAND] what tells the compiler and the libraries that it links from others
compiler_of() {
    [ -z "${COMPILER[$1]:-}" ] || return 0
    COMPILER[$1]=$("$1" --version && stat -L -c '%n %s %Y' "$(command -v "$1")" /usr/include/hip/hip_runtime.h \
        /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/*.bc 2>/dev/null | grep -vF "$BUILD/tests/bin/")
}

# compiled OUT SOURCE COMMAND...: runs the command, which makes OUT of the source, or takes what it made, and what it said on
# stderr, when the tests ran before: GPU compilers take most of such a script's time, and make the same of the same. Only
# TMPDIR may differ, so a build in another folder of it is another one.
compiled() {
    local out=$1 source=$2 kept
    shift 2
    compiler_of "$1"
    kept=$({ printf '%s\n' "${@//"$TMPDIR"/TMPDIR}" "${COMPILER[$1]}" && cat "$source"; } | sha256sum)
    kept=$BUILD/tests/compiled/${kept%% *}
    if [ ! -e "$kept" ]; then
        mkdir -p "${kept%/*}"
        "$@" 2>"$kept.err" || {
            cat "$kept.err" >&2
            return 1
        }
        cp "$out" "$kept.new"
        mv "$kept.new" "$kept"
    else
        cp "$kept" "$out"
    fi
    cat "$kept.err" >&2
}
