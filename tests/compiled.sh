# shellcheck shell=bash
# tests/compiled.sh: for scripts that examine what GPU compilers make of their own sources. Source it after tests/lib.sh.

declare -A COMPILER=()

# compiler_of COMMAND: sets COMPILER[COMMAND] to a text that identifies the compiler and the libraries that it links
compiler_of() {
    [ -z "${COMPILER[$1]:-}" ] || return 0
    COMPILER[$1]=$("$1" --version && stat -L -c '%n %s %Y' "$(command -v "$1")" /usr/include/hip/hip_runtime.h \
        /usr/lib/x86_64-linux-gnu/amdgcn/bitcode/*.bc 2>/dev/null | grep -vF "$BUILD/tests/bin/")
}

# compiled OUT SOURCE COMMAND...: runs the command, which makes OUT from the source, or reuses its result and stderr of an
# earlier run of the tests. GPU compilers take most of such a script's time, and their results depend only on the command, the
# compiler and the source. TMPDIR in the command does not count; other folders do.
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
        cp "$out" "$kept.$BASHPID"
        mv "$kept.$BASHPID" "$kept"
    else
        cp "$kept" "$out"
    fi
    cat "$kept.err" >&2
}
