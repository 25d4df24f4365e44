#!/usr/bin/env bash
# The short form of `make soak`: a night of each family of faults, the same each time, and the clean night after it
# (tests/soak). Where images cannot be mounted, the nights that need them are skipped.
# unsanitized: its nights belong to another user, who could not write a sanitizer's report
. tests/lib.sh

FAULTS=(cut sshd-killed executor both odd-names restless neighbours secrets kill-uid inodes-full power-cut desk-full half-file place-taken log-taken)

soak() {
    local options=() fault
    for fault in "${FAULTS[@]}"; do options+=(--fault "$fault"); done
    tests/soak/soak --seed 1 "${options[@]}" --nights ${#FAULTS[@]} "$BUILD"
}

night() {
    local line
    try_once soak soak
    if grep -qx "skipped: $1" <<<"$OUT"; then
        skip "all of it" "no images of file systems, and no users of our own, here"
        return
    fi
    line=$(grep -E "^ *[0-9]+ +$1 " <<<"$OUT")
    ok "the night and those after it end" $((${#line} > 0 ? 0 : 1)) "$(tail -n 20 <<<"$OUT")"$'\n'"$ERR"
    is "all invariants hold" "$(grep -F "($1, " <<<"$OUT" | grep '^VIOLATED' | sort -u)" ""
}

for fault in "${FAULTS[@]}"; do scenario "a night of the fault $fault" night "$fault"; done
done_testing
