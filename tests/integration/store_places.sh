#!/usr/bin/env bash
# Where a store lies, and who else reads it: on network file systems nothing that was called stored is lost, and nobody who
# reads a store keeps its owner from writing.
. tests/lib.sh
. tests/store.sh

make_run() {
    local dir i
    dir=$(folder_of "$1")
    for i in 1 2 3; do
        mkdir -p "$dir/v/ctx_${i}_run0"
        printf '{"ticket": "load", "context_len": %d, "wall_time_sec": 2, "exit_status": "OK", "timings": {"prefill_s": %d.5}}\n' "$i" "$1" \
            >"$dir/v/ctx_${i}_run0/perf.json"
    done
}

folder_of() {
    printf '%s/in/%s/load\n' "$TMPDIR" "$(date -u -d "2026-01-01 +$1 days" +%F)"
}

many_runs() {
    local n
    for ((n = 0; n < 26; n++)); do make_run "$n"; done
    cc -shared -fPIC -D_GNU_SOURCE -o "$TMPDIR/network.so" tests/fixtures/network/preload.c -ldl
}

# on HOST COMMAND...: as on a host that has the store by NFS
on() {
    FAKE_HOST=$1 FAKE_FS=${FS:-6969} LD_PRELOAD=$TMPDIR/network.so "${@:2}"
}

host_stores() {
    local n
    for ((n = $2; n < 26; n += 2)); do on "$1" "$KERNSWEEP" ingest "$(folder_of "$n")" --db "$DB" || return; done
}

two_hosts() {
    needs many_runs
    DB=$TMPDIR/nfs/results.db
    mkdir -p "$TMPDIR/nfs"
    [ -z "${1:-}" ] || "$KERNSWEEP" ingest "$(folder_of 0)" --db "$DB" >/dev/null 2>&1
    host_stores a 0 >"$TMPDIR/a.log" 2>&1 &
    host_stores b 1 >"$TMPDIR/b.log" 2>&1
    ok "one host stores all of its runs" $? "$(cat "$TMPDIR/b.log")"
    wait $!
    ok "the other one, too" $? "$(cat "$TMPDIR/a.log")"
    is "every run is there" "$(sql 'SELECT count(*) FROM run')" 26
    is "the store is sound" "$(sql 'PRAGMA integrity_check')" ok
    is "it has a rollback journal" "$(sql 'PRAGMA journal_mode')" delete
    rm -rf "$TMPDIR/nfs"
}

no_locks() {
    needs many_runs
    DB=$TMPDIR/nolock/results.db
    FAKE_LOCKS=$1 exits "ingest exits 5" 5 on a "$KERNSWEEP" ingest "$(folder_of 0)" --db "$DB"
    one_line "it prints one line" "$ERR"
    like "which names the file system and what to do" "$ERR" 'on NFS, where locks between machines do not work.*local disk with --db'
}

a_pipe() {
    mkfifo "$TMPDIR/pipe"
    exits "runs exits 2" 2 timeout 20 "$KERNSWEEP" runs --db "$TMPDIR/pipe"
    exits "ingest exits 2" 2 timeout 20 "$KERNSWEEP" ingest "$TMPDIR" --db "$TMPDIR/pipe"
    like "it says so" "$ERR" 'pipe: not a regular file, so it is no store'
}

socket_at() {
    perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' "$1"
}

# What is no file is neither waited for nor replaced, whichever command is given it.
special_files() {
    needs many_runs
    local file words dir=$TMPDIR/special
    DB=$dir/results.db
    mkdir -p "$dir/folder"
    ks ingest "$(folder_of 0)" >/dev/null 2>&1
    mkfifo "$dir/fifo"
    socket_at "$dir/socket"
    ln -s fifo "$dir/link"
    ln -s /proc/self/fd/1 "$dir/stdout"
    jq -n '{schema: "kernsweep.plan/1", ticket: "s", node: "local", variants: [{name: "a", run: ["true"]}], contexts: [1],
        timeouts: {default: 9}}' >"$dir/plan.json"
    for file in fifo socket folder link; do
        for words in "run $dir/$file" "check $dir/$file" "nightly $dir/$file" "import --map hyperfine $dir/$file" "import --map $dir/$file x" \
            "gguf show $dir/$file" "gguf set $dir/$file a 1" "resources $dir/$file" "validate --sample $dir/$file $dir/plan.json" \
            "note latest --section findings --file $dir/$file" "status --node nowhere --ssh-config $dir/$file" \
            "nodes trust nowhere --ssh-config $dir/$file" "report latest --output $dir/$file" "run $dir/plan.json --report $dir/$file" \
            "bench --export-json $dir/$file true" "attach latest --report $dir/$file"; do
            # shellcheck disable=SC2086 # several words
            exits "${words//$dir\//} exits 2" 2 timeout 20 "$KERNSWEEP" $words --db "$DB"
            like "it says why" "$ERR" 'not a regular file|is a folder|: a folder'
        done
    done
    exits "stdout is not replaced" 2 ks report latest --output "$dir/stdout"
    is "all are what they were" "$(cd "$dir" && stat -c '%n %F' fifo socket folder link stdout | tr '\n' ',')" \
        "fifo fifo,socket socket,folder directory,link symbolic link,stdout symbolic link,"
    is "no plots lie there" "$(find "$dir" -name '*.plots')" ""
    exits "/dev/null is an empty ssh configuration" 3 ks status --node nowhere.invalid --ssh-config /dev/null
}

local_disk() {
    needs many_runs
    DB=$TMPDIR/local/results.db
    ks ingest "$(folder_of 0)" >/dev/null 2>&1
    is "a store on a local disk has a log" "$(sql 'PRAGMA journal_mode')" wal
}

# as USER COMMAND...
as() {
    setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"
}

shared() {
    needs many_runs
    local dir
    dir=$(mktemp -d /tmp/kernsweep-shared.XXXXXX)
    chmod 777 "$dir"
    DB=$dir/results.db
    cp "$KERNSWEEP" "$dir/ks"
    chmod 755 "$dir/ks"
    cp -r "$TMPDIR/in" "$dir/in"
    chmod -R a+rX "$dir/in"
    export HOME=$dir
    as 4001 "$dir/ks" ingest "$dir/in/2026-01-01/load" --db "$DB" >/dev/null 2>&1
    chmod 644 "$DB"
    exits "another user can read it" 0 as 4002 "$dir/ks" runs --db "$DB"
    is "nothing of theirs is left" "$(find "$dir" -maxdepth 1 -uid 4002 | wc -l)" 0
    exits "its owner can write" 0 as 4001 "$dir/ks" ingest "$dir/in/2026-01-02/load" --db "$DB"
    is "from then on it has a rollback journal" "$(sql 'PRAGMA journal_mode')" delete
    exits "another user can read that" 0 as 4002 "$dir/ks" runs --db "$DB"
    is "both runs are told" "$(grep -c 2026 <<<"$OUT")" 2
    sqlite3 "$DB" 'PRAGMA journal_mode = wal' >/dev/null
    chown 4001 "$DB"
    : >"$DB-shm"
    chown 4002 "$DB-shm"
    chmod 644 "$DB-shm"
    exits "what an older version left is removed" 0 as 4001 "$dir/ks" ingest "$dir/in/2026-01-03/load" --db "$DB"
    sqlite3 "$DB" 'PRAGMA journal_mode = wal' >/dev/null
    chmod 1777 "$dir"
    : >"$DB-shm"
    chown 4002 "$DB-shm"
    exits "in a sticky folder it cannot be" 5 as 4001 "$dir/ks" ingest "$dir/in/2026-01-04/load" --db "$DB"
    like "the message names the file and its owner" "$ERR" 'results.db-shm: belongs to user 4002, who read the store'
    rm -rf "$dir"
}

# Two users of a group, and what the modes allow them.
whose() {
    needs many_runs
    local dir
    dir=$(mktemp -d /tmp/kernsweep-whose.XXXXXX)
    chmod 755 "$dir"
    mkdir "$dir/own"
    chown 4001:5000 "$dir/own"
    chmod 2775 "$dir/own"
    DB=$dir/own/results.db
    cp "$KERNSWEEP" "$dir/ks"
    chmod 755 "$dir/ks"
    cp -r "$TMPDIR/in" "$dir/in"
    chmod -R a+rX "$dir/in"
    export HOME=$dir
    # night USER DAY
    # shellcheck disable=SC2317 # called by exits
    night() {
        setpriv --reuid="$1" --regid=5000 --clear-groups "$dir/ks" ingest "$dir/in/2026-01-0$2/load" --db "$DB"
    }
    exits "its owner stores" 0 night 4001 1
    exits "another user of the group cannot read it" 5 setpriv --reuid=4002 --regid=5000 --clear-groups "$dir/ks" runs --db "$DB"
    like "the message names the owner" "$ERR" "own/results.db: .*ask the store's owner, user 4001"
    chmod 644 "$DB"
    exits "whoever may only read it stores nothing" 5 night 4002 2
    like "the message names the owner, too" "$ERR" 'own/results.db: .*this user may only read the store: ask its owner, user 4001, to do that'
    chmod 664 "$DB"
    exits "the group may write" 0 night 4002 2
    exits "and its owner after it" 0 night 4001 3
    is "nothing lies next to it" "$(ls "$dir/own")" results.db
    chmod 444 "$DB"
    exits "a store that its owner made read-only is not changed" 5 night 4001 4
    # shellcheck disable=SC2016 # quotes of the message
    like "the message says what to do" "$ERR" 'own/results.db: .*the mode of your store forbids it: `chmod u\+w` it'
    chmod 644 "$DB"
    chmod 555 "$dir/own"
    exits "nor one in a folder where nobody may write" 5 night 4001 4
    like "the message names the folder's owner" "$ERR" "the store's folder, which is user 4001's"
    exits "anybody can read it there" 0 as 4003 "$dir/ks" runs --db "$DB"
    chmod 2775 "$dir/own"
    exits "with the modes as before, its owner stores" 0 night 4001 4
    chmod 600 "$DB"
    exits "also once nobody else may read it" 0 night 4001 5
    mkdir "$dir/mounted"
    if mount --bind "$dir/own" "$dir/mounted" 2>/dev/null; then
        mount -o remount,ro,bind "$dir/mounted"
        DB=$dir/mounted/results.db exits "on a read-only mount nothing is stored" 5 night 4001 6
        like "the message says so" "$ERR" 'mounted/results.db: .*mounted read-only'
        exits "there, too, it can be read" 0 as 4001 "$dir/ks" runs --db "$dir/mounted/results.db"
        umount "$dir/mounted"
    else
        skip "on a read-only mount nothing is stored" "no mounts here"
    fi
    is "every night is there" "$(as 4001 "$dir/ks" runs --db "$dir/own/results.db" | grep -c COMPLETE)" 5
    rm -rf "$dir"
}

# killed_writing USER: a process that is killed in the middle of a change to the store
killed_writing() {
    setpriv --reuid="$1" --regid="$1" --groups=5000 sqlite3 -batch "$DB" >/dev/null 2>&1 <<'END'
PRAGMA cache_size = 1;
BEGIN IMMEDIATE;
UPDATE run SET tag = 'half';
CREATE TABLE junk AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200) SELECT randomblob(4000) FROM c;
.shell kill -9 $PPID
END
}

# A folder that everybody may write, and a store of user 4001 in it with the given mode; a second run ends its log.
public() {
    needs many_runs
    dir=$(mktemp -d /tmp/kernsweep-public.XXXXXX)
    cp "$KERNSWEEP" "$dir/ks"
    cp -r "$TMPDIR/in" "$dir/in"
    chmod -R a+rX "$dir"
    chmod 1777 "$dir"
    DB=$dir/results.db
    export HOME=$dir
    as 4001 "$dir/ks" ingest "$dir/in/2026-01-01/load" --db "$DB" >/dev/null 2>&1
    chmod "$1" "$DB"
}

unfinished() {
    local dir
    public 644
    as 4001 "$dir/ks" ingest "$dir/in/2026-01-02/load" --db "$DB" >/dev/null 2>&1
    killed_writing 4001
    exits "whoever may only read it cannot undo that" 5 as 4003 "$dir/ks" runs --db "$DB"
    # shellcheck disable=SC2016 # quotes of the message
    like "the message names the file, its owner and what to do" "$ERR" \
        "results.db-journal, which is user 4001's, .*ask them to run .kernsweep db check. on the store"
    mkdir "$dir/mounted"
    if mount --bind "$dir" "$dir/mounted" 2>/dev/null; then
        mount -o remount,ro,bind "$dir/mounted"
        exits "on a read-only mount nothing can be read" 5 as 4001 "$dir/ks" runs --db "$dir/mounted/results.db"
        like "the message says so, and what to do" "$ERR" 'read-only file system, with a change in results.db-journal .*: copy both'
        umount "$dir/mounted"
    else
        skip "on a read-only mount nothing can be read" "no mounts here"
    fi
    exits "its owner's db check undoes it" 0 as 4001 "$dir/ks" db check --db "$DB"
    exits "then others can read it" 0 as 4003 "$dir/ks" runs --db "$DB"
    chmod 660 "$DB"
    chgrp 5000 "$DB"
    killed_writing 4002
    exits "its owner cannot undo another user's change" 5 as 4001 "$dir/ks" runs --db "$DB"
    like "the message names that user" "$ERR" "results.db-journal, which is user 4002's, "
    exits "that user can" 0 setpriv --reuid=4002 --regid=4002 --groups=5000 "$dir/ks" db check --db "$DB"
    exits "then its owner can store" 0 as 4001 "$dir/ks" ingest "$dir/in/2026-01-03/load" --db "$DB"
    chmod 644 "$DB"
    as 4001 sqlite3 "$DB" 'PRAGMA journal_mode = wal' >/dev/null
    killed_writing 4001
    chmod 600 "$DB-wal"
    exits "a log that only its owner may read" 5 as 4003 "$dir/ks" runs --db "$DB"
    like "is named, too" "$ERR" "results.db-wal, which is user 4001's, "
    rm -rf "$dir"
}

# The folder is root's: its owner cannot remove what others leave in it.
by_commands_that_write() {
    local dir command
    public 644
    for command in "db check" "db vacuum" "ingest $dir/in/2026-01-02/load" "baseline set main latest" "runs remove latest"; do
        # shellcheck disable=SC2086 # several words
        exits "$command of another user exits 5" 5 as 4002 "$dir/ks" $command --db "$DB"
        is "$command leaves nothing" "$(find "$dir" -uid 4002)" ""
    done
    like "the message names the owner" "$ERR" 'this user may only read the store: ask its owner, user 4001, to do that'
    if as 4002 unshare -r true 2>/dev/null; then
        exits "root of a container can read it" 0 as 4002 unshare -r "$dir/ks" runs --db "$DB"
        is "and leaves nothing" "$(find "$dir" -uid 4002)" ""
    else
        skip "root of a container can read it" "no user namespaces here"
    fi
    exits "its owner can write" 0 as 4001 "$dir/ks" ingest "$dir/in/2026-01-02/load" --db "$DB"
    mkdir "$dir/links"
    chown 4003 "$dir/links"
    chmod 755 "$dir"
    chmod 666 "$DB"
    ln -s ../results.db "$dir/links/linked.db"
    exits "through a link" 5 as 4002 "$dir/ks" ingest "$dir/in/2026-01-03/load" --db "$dir/links/linked.db"
    like "the owner of the store's folder is named" "$ERR" "the store's folder, which is user root's"
    if chattr +i "$DB" 2>/dev/null; then
        exits "a store that is marked as immutable is not changed" 5 as 4001 "$dir/ks" ingest "$dir/in/2026-01-03/load" --db "$DB"
        like "the message says what to do" "$ERR" 'marked as not to be changed .*chattr -ia'
        chattr -i "$DB"
    else
        skip "a store that is marked as immutable is not changed" "no such marks here"
    fi
    rm -rf "$dir"
}

# night_of USER COMMAND...: the user's own plan, measured into the shared store, which 4003's groups may not write
night_of() {
    local groups=--groups=5000
    [ "$1" != 4003 ] || groups=--clear-groups
    jq -n --arg dir "$dir/$1" '{schema: "kernsweep.plan/1", ticket: "night", node: "local", workdir: "\($dir)/work", clock: "simulated",
        variants: [{name: "a", run: ["echo", "[PERF_TIMING] {\"prefill_s\": 0.5}"]}], contexts: [1], timeouts: {default: 30}}' >"$dir/$1/plan.json"
    setpriv --reuid="$1" --regid="$1" "$groups" "$dir/ks" "${@:2}" "$dir/$1/plan.json" --db "$DB" --artifacts "$dir/$1/artifacts"
}

# Each user's records are that user's own, whoever comes first, root included.
nights_of_several_users() {
    local dir user
    public 664
    chgrp 5000 "$DB"
    chmod 777 "$dir"
    cp "$KERNSWEEP_EXECUTOR" "$dir/kernsweep-executor"
    export KERNSWEEP_EXECUTOR=$dir/kernsweep-executor
    for user in 0 4001 4002 4003; do
        mkdir "$dir/$user"
        chown "$user" "$dir/$user"
    done
    exits "another user's nightly ends at once, without the right to write" 5 night_of 4003 nightly --reports "$dir/4003/reports"
    unlike "nothing was measured" "$ERR" started
    exits "so does a run" 5 night_of 4003 run
    unlike "without a measurement" "$ERR" started
    is "nothing of theirs lies beside the store" "$(find "$dir" -maxdepth 1 -uid 4003 -not -name 4003)" ""
    for user in 0 4002 4001; do
        exits "user $user has a night" 0 night_of "$user" nightly --reports "$dir/$user/reports"
    done
    exits "and its owner another" 0 night_of 4001 nightly --reports "$dir/4001/reports"
    is "all are stored" "$(as 4001 "$dir/ks" runs --db "$DB" | grep -c night)" 4
    is "its owner sees the owner's own" "$(as 4001 "$dir/ks" status --db "$DB" 2>/dev/null | grep -c COMPLETE)" 2
    is "root sees root's" "$("$dir/ks" status --db "$DB" 2>/dev/null | grep -c COMPLETE)" 1
    chmod 700 "$dir/4001/artifacts"
    exits "another user cannot read its owner's logs" 2 as 4002 "$dir/ks" logs latest a 1 --db "$DB"
    like "the message says that, and not that they are gone" "$ERR" 'is not readable for this user: ask its owner for it'
    exits "latest is no node for watch" 2 as 4003 "$dir/ks" watch latest --db "$DB"
    like "it says that nothing was started from here" "$ERR" 'no run or ticket "latest" was started from here'
    mkdir "$dir/runs.4004"
    chown 4002 "$dir/runs.4004"
    exits "what another user made for them is not believed" 5 as 4004 "$dir/ks" status --db "$DB"
    like "the message names the folder and its owner" "$ERR" 'runs.4004: belongs to user 4002: ask them to remove it'
    rm -rf "$dir"
}

# A pager that shows a first page, and does not read on until there is a file `go_on`.
slow_pager() {
    sleep 0.2
    until [ -e "$TMPDIR/go_on" ]; do sleep 0.1; done
    wc -l >"$TMPDIR/lines"
}

pagers() {
    local dir day=3 i big words
    public 644
    big=$dir/in/big/2026-03-01/load
    for ((i = 1; i <= 800; i++)); do
        mkdir -p "$big/v/ctx_${i}_run0"
        jq -n --argjson n "$i" '{ticket: "load", context_len: $n, wall_time_sec: 2, exit_status: "OK", timings: {prefill_s: 1}}' >"$big/v/ctx_${i}_run0/perf.json"
    done
    chmod -R a+rX "$dir/in"
    exits "a large run is stored" 0 as 4001 "$dir/ks" ingest "$big" --db "$DB"
    for i in "export --format csv" "export --format sql" "sql SELECT*FROM,test"; do
        rm -f "$TMPDIR/go_on"
        read -ra words <<<"$i"
        as 4002 "$dir/ks" "${words[@]//,/ }" --db "$DB" | slow_pager &
        sleep 0.5
        exits "its owner can store while ${words[*]::3} waits for its pager" 0 as 4001 timeout 10 "$dir/ks" ingest "$dir/in/2026-01-0$((day++))/load" --db "$DB"
        touch "$TMPDIR/go_on"
        wait
        [ "$(cat "$TMPDIR/lines")" -gt 800 ]
        ok "then all of it is read" $? "$(cat "$TMPDIR/lines")"
    done
    rm -rf "$dir"
}

scenario "a store that two hosts have by NFS" two_hosts
scenario "a store with a log that comes to NFS" two_hosts before
scenario "NFS without locks" no_locks 37
scenario "a file system that knows no locks" no_locks 38
scenario "a local disk" local_disk
scenario "a pipe" a_pipe
scenario "special files" special_files
scenario "a store that another user reads" shared
scenario "two users of a group, and changing modes" whose
scenario "a change that a killed command left" unfinished
scenario "a store that others try to write" by_commands_that_write
scenario "readers that stay" pagers
scenario "nights of several users" nights_of_several_users
done_testing
