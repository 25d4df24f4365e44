#!/usr/bin/env bash
# Two users of one machine: a GPU is one run's at a time, whoever made its lock; a dead run keeps none; and what another user
# puts in a lock's place neither stops a run nor is written through.
. tests/lib.sh
. tests/executor.sh
. tests/users.sh

trap 'rm -rf "$PLACE"' EXIT
SYS=$PLACE/sys
SUBMIT=(--sysfs "$SYS")
LOCK=$SYS/kernsweep-gpu-1d0fbe6a2a1c0000.lock # beside a sysfs that is played by a folder
mkdir -p "$SYS/class/drm/card0/device"
echo 0x1002 >"$SYS/class/drm/card0/device/vendor"
echo 1000000 >"$SYS/class/drm/card0/device/mem_info_vram_total"
echo 1d0fbe6a2a1c0000 >"$SYS/class/drm/card0/device/unique_id"
chmod -R a+rX "$SYS"
chmod 1777 "$SYS" # as /run/lock is

sweep() {
    job "$1" "$(shell "$2" "${3:-}")"
    submit "$1"
}

hold() {
    use "$1"
    as "$1" touch "$PLACE/$1/$2"
    sweep "$2" "while [ -e $PLACE/$1/$2 ]; do sleep 0.05; done; $good"
    waits "$2" '.event == "TEST_START"'
}

result() {
    follow "$1"
    summary "$1" '"\(.status) \(.counts.ok)"'
}

# one_at_a_time OWNER OTHER: the first makes the lock's file; each keeps the other out, dead or alive.
one_at_a_time() {
    hold "$1" "mine-$1"
    is "$1's run makes its file, writable by everybody" "$(stat -c '%u %a' "$LOCK")" "${UIDS[$1]} 666"
    use "$2"
    sweep "refused-$1" "$good"
    is "$2's run is BLOCKED" "$(result "refused-$1")" "BLOCKED 0"
    like "$2's run names the run that has the GPU" "$(summary "refused-$1" .reason)" "GPU 1d0fbe6a2a1c0000 is used by the run mine-$1 \\(pid [0-9]+\\)"
    sweep "waiting-$1" "$good" '{"lock_wait_s": 600}'
    waits "waiting-$1" '.event == "NODE" and ((.message // "") | test("waiting up to 600 s"))'
    ok "$2's run with lock_wait_s waits" $?
    use "$1"
    kill -9 "$(supervisor "mine-$1")"
    use "$2"
    is "$2's run has the GPU when $1's executor is killed" "$(result "waiting-$1")" "COMPLETE 1"
    hold "$2" "theirs-$1"
    use "$1"
    sweep "back-$1" "$good"
    is "$1's run is BLOCKED by $2's, who did not make the file" "$(result "back-$1")" "BLOCKED 0"
    rm "$PLACE/$2/theirs-$1"
    use "$2"
    is "$2's run ends COMPLETE" "$(result "theirs-$1")" "COMPLETE 1"
    use "$1"
    sweep "after-$1" "$good"
    is "$1's next run has the GPU again" "$(result "after-$1")" "COMPLETE 1"
    x cancel --run "mine-$1" >/dev/null
    rm -f "$LOCK" "$PLACE/$1/mine-$1"
}

# trap_of COMMAND...: bob puts something in the lock's place; ann's run goes on, and says so.
trap_of() {
    local run=trap-$TESTS
    as ann sh -c "echo precious >'$PLACE/ann/precious'; chmod 666 '$PLACE/ann/precious'"
    as bob "$@"
    use ann
    sweep "$run" "$good"
    is "ann's run goes on" "$(result "$run")" "COMPLETE 1"
    is "ann's run says that the GPU is not locked" "$(events "$run" '[.[] | select((.message // "") | test("cannot be locked against runs"))] | length')" 1
    is "ann's file is unchanged" "$(cat "$PLACE/ann/precious")" precious
    is "no file is made where a link points to nothing" "$(ls "$PLACE/ann/created" 2>/dev/null)" ""
    rm -rf "$LOCK"
}

# What a lock's file says of its holder is bob's to write.
long_text() {
    as bob sh -c "head -c 100000 /dev/zero | tr '\\0' A >'$LOCK'; chmod 666 '$LOCK'"
    use ann
    sweep long "$good"
    is "ann's run takes it" "$(result long)" "COMPLETE 1"
    rm -f "$LOCK"
}

lying_text() {
    local liar
    as bob sh -c ": >'$LOCK'; chmod 666 '$LOCK'"
    mkfifo "$PLACE/enough"
    as bob python3 -c '
import fcntl, sys
f = open(sys.argv[1], "r+")
f.truncate(0)
f.write("1 1 \033[2J\033]0;gone\a;rm\n")
f.flush()
fcntl.lockf(f, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()' "$LOCK" <"$PLACE/enough" >"$TMPDIR/lying" &
    liar=$!
    exec 9>"$PLACE/enough"
    until_true 30 grep -q held "$TMPDIR/lying"
    use ann
    sweep lied "$good"
    is "ann's run is BLOCKED" "$(result lied)" "BLOCKED 0"
    is "the reason has no control character" "$(summary lied .reason | tr -d '\n' | LC_ALL=C tr -d '[:print:]' | wc -c)" 0
    exec 9>&-
    wait "$liar"
    rm -f "$LOCK"
}

scenario "a GPU lock whose file ann makes" one_at_a_time ann bob
scenario "a GPU lock whose file bob makes" one_at_a_time bob ann
scenario "a symbolic link in the lock's place" trap_of ln -s "$PLACE/ann/precious" "$LOCK"
scenario "a link to nothing in the lock's place" trap_of ln -s "$PLACE/ann/created" "$LOCK"
scenario "a FIFO in the lock's place" trap_of mkfifo -m 666 "$LOCK"
scenario "a folder in the lock's place" trap_of mkdir -m 777 "$LOCK"
scenario "a file for bob only in the lock's place" trap_of install -m 600 /dev/null "$LOCK"
scenario "a lock that nobody holds, full of text" long_text
scenario "a lock that is held, with the text of somebody else" lying_text
done_testing
