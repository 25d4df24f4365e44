# shellcheck shell=bash
# tests/tree.sh: lays out trees of small files (a node's sysfs and procfs) from a description of one line per file:
# "path = contents", where \n and \t stand for a line break and a tab.

# lay_tree DIR FILE...: later files override earlier ones
lay_tree() {
    local root=$1 line path
    local -a lines
    local -A folders=()
    shift
    mapfile -t lines < <(cat "$@")
    for line in "${lines[@]}"; do
        path=$root/${line%% = *}
        folders[${path%/*}]=1
    done
    mkdir -p "${!folders[@]}" # once, not for each file: a node with eight GPUs has hundreds
    for line in "${lines[@]}"; do printf '%b\n' "${line#* = }" >"$root/${line%% = *}"; done
}
