# shellcheck shell=bash
# tests/held.sh: what needs control groups, where this machine has them. Source it after tests/lib.sh.

# can_hold FILTER: whether this machine can hold a test so, as the executor sees it
can_hold() {
    "$KERNSWEEP_EXECUTOR" probe --workdir "$TMPDIR/look" | jq -e ".containment | $1" >/dev/null
}

# held_scenario FILTER TITLE FUNCTION
held_scenario() {
    if can_hold "$1"; then
        scenario "$2" "$3"
    else
        skip_scenario "$2" "this machine has no such control groups"
    fi
}
