# shellcheck shell=bash
# tests/tree.sh: lays out trees of small files (a node's sysfs and procfs) from a description of one line per file:
# "path = contents", where \n and \t stand for a line break and a tab.

# lay_tree DIR FILE...: later files replace what earlier ones gave
lay_tree() {
    local root=$1 line path
    shift
    while IFS= read -r line; do
        path=$root/${line%% = *}
        mkdir -p "${path%/*}"
        printf '%b\n' "${line#* = }" >"$path"
    done < <(cat "$@")
}
