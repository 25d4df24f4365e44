# shellcheck shell=bash disable=SC2034,SC2154,SC2317,SC2329 # called by name: before_NAME, during_NAME, after_NAME of a fault NAME
# faults.sh: what is done to a night of `make soak`; faults.tbl lists it. before: ahead of the start. during: the night is on
# its way, in `harness`. after: it has ended; the next night must find no more than what the fault left behind.

# --- the line

# Within about the time that a night takes here (night_ms: the last clean one), or within so many milliseconds.
some_instant() { between 0 "${1:-$((night_ms * 11 / 10))}" && pause "$REPLY"; }

# The executor's pid once it runs a test, for a limited time; 1 if the night ends without.
until_running() {
    local deadline=$((SECONDS + 20))
    while :; do
        executor=$(as "$dir/bin/kernsweep-executor" status --workdir "$dir/disk/work" 2>/dev/null |
            jq -r '[.[] | select(.state == "running") | .pid][0] // empty')
        [ -z "$executor" ] || return 0
        kill -0 "$harness" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ] || return 1
        pause 10
    done
}

during_cut() {
    some_instant && say cut
    some_instant 400 && say cut
}
before_cut-at() { between 100 60000 && line_up --cut-after "$REPLY"; }
during_cut-at() { some_instant 4000; }
after_cut-at() { line_up; }
during_freeze() {
    some_instant && say freeze
    some_instant 2000
    say thaw
}
during_down() {
    some_instant && say down
    until_gone 8
    say up
}
during_garbage() { some_instant && say garbage; }
after_garbage() { line_up; }

sessions_of_sshd() {
    local main pids pid
    main=$(cat "$dir/node/sshd.pid")
    pids=$(pgrep -P "$main")
    for pid in $pids; do pids="$pids $(pgrep -P "$pid" | xargs)"; done
    echo "$pids"
}
during_sshd-frozen() {
    some_instant
    frozen=$(sessions_of_sshd)
    # shellcheck disable=SC2086 # a list
    [ -n "${frozen// /}" ] && kill -STOP $frozen 2>/dev/null || return 0
    until_true 40 silence_told || violated "nothing was said of a frozen sshd in 40 s"
}
silence_told() { grep -q 'silent for\|reconnecting\|connection lost' "$log" || gone_or_zombie; }
after_sshd-frozen() {
    # shellcheck disable=SC2086 # a list
    kill -KILL $frozen 2>/dev/null
    return 0
}
during_sshd-killed() {
    some_instant
    # shellcheck disable=SC2046 # a list
    kill -KILL $(cat "$dir/node/sshd.pid") $(sessions_of_sshd) 2>/dev/null
    some_instant
    node_up
}

# --- processes

during_harness() { some_instant && kill -KILL "$harness" 2>/dev/null; }
during_executor() {
    until_running || return 0
    some_instant 300
    kill -KILL "$executor" 2>/dev/null && killed=$((killed + 1))
}
during_both() {
    until_running || return 0
    some_instant 300
    kill -KILL "$executor" "$harness" 2>/dev/null && killed=$((killed + 1))
}
# Until main() begins, nothing has been started and the kernel answers: SIGTERM ends the process (143), and SIGINT does nothing,
# as a shell has its background commands ignore it.
during_interrupt() {
    local names=(INT TERM) early=1
    some_instant
    catches_term && early=
    kill -"${names[RANDOM % 2]}" "$harness" 2>/dev/null || return 0
    [ -n "$early" ] || until_gone 5 || violated "the night went on for more than 5 s after a signal"
    [ -z "$early" ] || [ -s "$log" ] || allowed+="143 "
}
catches_term() {
    local caught
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$harness/status" 2>/dev/null)
    [ "$(readlink "/proc/$harness/exe")" = "$dir/bin/kernsweep" ] && [ $((0x${caught:-0} >> 14 & 1)) = 1 ]
}
during_frozen() {
    until_running || return 0
    some_instant 100
    kill -STOP "$executor" 2>/dev/null || return 0
    until_true 40 told_or_gone
    kill -0 "$harness" 2>/dev/null && ! grep -q "kill -CONT $executor" "$log" &&
        violated "nothing was said of a frozen executor in 40 s"
    [ $((RANDOM % 2)) = 0 ] || { kill -KILL "$executor" 2>/dev/null && killed=$((killed + 1)); }
    kill -CONT "$executor" 2>/dev/null
    return 0
}
told_or_gone() { grep -q 'kill -CONT' "$log" || ! kill -0 "$harness" 2>/dev/null; }
until_gone() { until_true "$1" gone "$harness"; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# A keeper is the executor's own image between it and a test; stopped, it goes on when the executor looks.
during_keeper() {
    local pid signals=(STOP KILL)
    until_running || return 0
    some_instant 300
    for pid in $(pgrep -P "$executor"); do
        [ "$(readlink "/proc/$pid/exe")" != "$(readlink "/proc/$executor/exe")" ] || kill -"${signals[RANDOM % 2]}" "$pid" 2>/dev/null
    done
    return 0
}

during_twice() {
    local rc=0
    some_instant 300
    gone "$harness" && return
    night_command 2>"$dir/second.log" >&2 || rc=$?
    [ "$rc" = 0 ] || [ "$rc" = 3 ] || violated "the second night ended with exit code $rc: $(tail -n 1 "$dir/second.log")"
    [ "$rc" != 0 ] || seconds_night=1
}

before_clock() {
    echo +0 >"$dir/offset"
    night_env=(LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$dir/offset" FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1)
}
during_clock() {
    local jumps=(+3600 -3600 +90000 -90000)
    some_instant
    echo "${jumps[RANDOM % 4]}" >"$dir/offset.new"
    mv "$dir/offset.new" "$dir/offset"
}
after_clock() { night_env=(); }

# --- what the workload does

misdeed() { echo "$1" >"$dir/marks/misdeed"; }
before_odd-names() { misdeed odd_names; }
before_many-files() { misdeed many_files; }
before_deep() { misdeed deep; }
before_special() { misdeed special; }
before_sparse() { misdeed sparse; }
before_unreadable() { misdeed unreadable; }
before_kill-uid() { misdeed kill_uid; }
before_fork-bomb() { misdeed fork_bomb; }
before_neighbours() { misdeed neighbours; }
# What a hostile test claims in its own night is its word, as it runs as the same user; no later night may believe it. Not in
# the first night of a way, which becomes the baseline.
before_own-build() {
    [ "$(sql "SELECT count(*) FROM run WHERE ticket = 'soak-$way'" 2>/dev/null)" -gt 0 ] 2>/dev/null || { start_night && end_night; }
    seen_run=$(newest_run)
    misdeed own_build
}
after_own-build() { seen_run=$(newest_run); }
before_flood() { misdeed flood; }
before_secrets() { misdeed secrets; }
before_stubborn() { misdeed stubborn; }
before_daemons() { misdeed daemons; }
during_special() {
    local out
    rooted && until_running || return 0
    for out in "$dir"/disk/work/runs/*/b/ctx_16_run1; do mknod "$out/device" c 1 3 2>/dev/null; done
}
after_kill-uid() { node_up && killed=$((killed + 1)); }

# Nothing that a test started can do this, as its end is waited for: somebody else on the node, in the newest run's folders.
during_restless() {
    local newest
    until_running || return 0
    newest=$(find "$dir/disk/work/runs" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1)
    # shellcheck disable=SC2016 # perl's
    as timeout 20 perl -e 'chdir $ARGV[0]; my $n = 0; while (kill 0, $ARGV[1]) { for my $d (grep { -w } glob "*/ctx_*") { $n++;
        open my $f, ">>", "$d/grows"; print $f "x" x 5000; open my $g, ">", "$d/gone.$n" or next; print $g "y"; close $g;
        unlink "$d/gone." . ($n - 3) } select undef, undef, undef, 0.001 }' "$newest" "$harness" 9>&- &
    restless=$!
}
after_restless() {
    [ -z "${restless:-}" ] || { kill "$restless" && wait "$restless"; } 2>/dev/null
    restless=
}

# --- the node's disk

changed_sources() { echo "# $night" >>"$dir/src/workload.sh"; }
before_inodes-full() { changed_sources; }
during_inodes-full() {
    some_instant
    # shellcheck disable=SC2016 # perl's
    as perl -e 'mkdir $ARGV[0]; for (1 .. 100000) { open my $f, ">", "$ARGV[0]/$_" or last; }' "$dir/disk/filler"
    until_gone 40
}
after_inodes-full() { rm -rf "$dir/disk/filler"; }
before_disk-full() { changed_sources; }
during_disk-full() {
    some_instant
    fill disk
    until_gone 40
}
after_disk-full() { rm -f "$dir/disk/filler"; }
fill() {
    local size
    for size in 900 300 100 30 10 3 1; do as fallocate -o "$(stat -c %s "$dir/$1/filler" 2>/dev/null || echo 0)" -l "${size}M" "$dir/$1/filler"; done 2>/dev/null
    # shellcheck disable=SC2016 # sh's
    as sh -c 'cat /dev/zero >>"$1"' sh "$dir/$1/filler" 2>/dev/null
}

before_power-cut() { changed_sources; }
# All stands still while the image is copied: what the disk has by then, no more. Then nothing is left but the copy.
during_power-cut() {
    local all
    some_instant
    all=$(on_node)
    # shellcheck disable=SC2086 # a list
    [ -z "$all" ] || kill -STOP $all 2>/dev/null
    copy_at_once
    all="$all $(on_node)"
    # shellcheck disable=SC2086 # a list
    kill -KILL $all 2>/dev/null
    killed=$((killed + 1))
    say cut # nobody is left to say goodbye
    until_true 10 umount "$dir/disk" || die "the node's disk is still in use: $(fuser -vm "$dir/disk" 2>&1 | tail -n 3)"
    mv "$dir/disk.cut" "$dir/disk.img"
    mount -o loop "$dir/disk.img" "$dir/disk" || die "the disk's copy cannot be mounted"
    node_up
}
# An image of one instant: again if the kernel was writing to the device meanwhile.
copy_at_once() {
    local device tries before
    device=$(findmnt -no SOURCE "$dir/disk")
    device=/sys/block/${device#/dev/}/stat
    for ((tries = 0; tries < 20; tries++)); do
        before=$(writes "$device")
        cp --sparse=always "$dir/disk.img" "$dir/disk.cut"
        [ "$(writes "$device")" != "$before" ] || return 0
    done
    die "the node's disk is never still"
}
writes() { awk '{ print $5, $9, $16 }' "$1"; } # completed, in flight, flushes

# The processes that lose their power: with sshd and without the workstation's, unless both are one machine.
on_node() {
    local pid
    for pid in $(pids_left) $(pgrep sshd); do
        [ "$way" != local ] && { [ "$pid" = "$harness" ] || grep -qsz '^ssh$' "/proc/$pid/cmdline"; } || printf '%s ' "$pid"
    done
}

# --- the workstation

during_desk-full() {
    some_instant
    fill desk
    until_gone 60
}
after_desk-full() { rm -f "$dir/desk/filler"; }
during_db-locked() {
    some_instant 500
    [ -s "$db" ] || return 0
    between 500 4000
    as sqlite3 "$db" <<END >/dev/null 2>&1
.timeout 2000
BEGIN EXCLUSIVE;
.shell sleep $((REPLY / 1000)).$((REPLY % 1000))
END
}
before_db-corrupt() {
    local pages
    as sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    as cp "$db" "$dir/desk/backup.db"
    pages=$(($(stat -c %s "$db") / 4096))
    between 1 "$pages"
    head -c 4096 /dev/urandom | dd of="$db" bs=4096 seek="$REPLY" conv=notrunc 2>/dev/null
}
# What was stored meanwhile is only in the bundles: they are ingested again, as the documentation says.
after_db-corrupt() {
    rm -f "$db-wal" "$db-shm"
    as mv "$dir/desk/backup.db" "$db"
    [ ! -d "$dir/desk/artifacts" ] || find "$dir/desk/artifacts" -name manifest.json -printf '%h\0' |
        as xargs -0r "$dir/bin/kernsweep" ingest --db "$db" >>"$log" 2>&1
}
before_plan-gone() { mkdir -p "$dir/saved" && cp -p "$dir/$way.json" "$dir/ssh_config" "$dir/saved/"; }
during_plan-gone() {
    some_instant
    case $((RANDOM % 3)) in
    0) echo '{"schema": "kernsweep.plan/1", ' >"$dir/new" ;;
    1) jq '.contexts = [16]' "$dir/$way.json" >"$dir/new" ;;
    2) jq '.workdir += "-other" | .ticket = "other"' "$dir/$way.json" >"$dir/new" ;;
    esac
    ! rooted || chown 64321:64321 "$dir/new"
    mv "$dir/new" "$dir/$way.json"
    # shellcheck disable=SC2016 # sh's
    as sh -c 'echo "Host *" >"$1"; echo "    Port 1" >>"$1"' sh "$dir/ssh_config"
}
after_plan-gone() { cp -p "$dir/saved/$way.json" "$dir/saved/ssh_config" "$dir/"; }

# --- what a night finds

# The nights' files that a crash may have cut, but for the store and its backups.
half_files() {
    find "$dir"/disk/work "$dir"/desk/{artifacts,nights} "$dir"/home/.cache/kernsweep -type f \
        ! -path '*/work/src/*' ! -path '*/work/tree/*' ! -name kernsweep-executor ! -name prog 2>/dev/null | sort
}
before_half-file() {
    local files file tries
    mapfile -t files < <(half_files)
    for ((tries = 0; tries < 3 && ${#files[@]} > 0; tries++)); do
        file=${files[RANDOM % ${#files[@]}]}
        truncate -s "$((RANDOM % ($(stat -c %s "$file") + 1)))" "$file"
        echo "half: $file" >>"$dir/soak.err"
    done
}
before_future() { find "$dir"/disk/work "$dir"/desk "$dir"/home/.cache -exec touch -hd '+2 days' {} + 2>/dev/null; }
before_full-before() {
    changed_sources
    fill disk
}
after_full-before() { rm -f "$dir/disk/filler"; }
before_desk-before() { fill desk; }
after_desk-before() { rm -f "$dir/desk/filler"; }
before_place-taken() {
    local places=(desk/nights "desk/artifacts/$(date -u +%F)" disk/work/runs disk/work/src disk/work/tree disk/work/build disk/work/bin)
    taken=$dir/${places[RANDOM % ${#places[@]}]}
    [ -d "$taken" ] || taken=$dir/disk/work
    [ ! -d "$taken" ] || chown root:root "$taken"
    echo "taken: $taken" >>"$dir/soak.err"
}
after_place-taken() { [ ! -d "$taken" ] || chown 64321:64321 "$taken"; }
before_runs-taken() {
    local run
    [ -d "$dir/disk/work/runs" ] || return 0
    for run in 20200101T000000Z-old-00000000 not-a-run; do
        mkdir -p "$dir/disk/work/runs/$run"
        echo '{' >"$dir/disk/work/runs/$run/job.json"
        chmod 700 "$dir/disk/work/runs/$run"
    done
}
after_runs-taken() { rm -rf "$dir"/disk/work/runs/{20200101T000000Z-old-00000000,not-a-run}; }
before_log-taken() {
    [ -s "$db" ] || return 0
    sqlite3 "$db" 'SELECT count(*) FROM run' >/dev/null 2>&1 # as root
    touch "$db-wal" "$db-shm"
    chown root:root "$db-wal" "$db-shm"
    chmod 600 "$db-wal" "$db-shm"
}
after_log-taken() {
    local file
    for file in "$db-wal" "$db-shm"; do [ ! -e "$file" ] || chown 64321:64321 "$file"; done
}
