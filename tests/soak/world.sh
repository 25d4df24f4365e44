# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with the other files of tests/soak
# world.sh: where the nights happen: a user, a workstation ("desk"), a node with a disk of its own, a line between them.
#
# As root, everything is in mount and process namespaces of its own, the nights belong to a user that exists only there (one of
# them kills all that this user has), and desk and node are file systems in images of $dir. Otherwise all of it is folders, and
# the faults that need more are skipped.

rooted() { [ -n "${SOAK_ROOTED:-}" ]; }

# as COMMAND...: as the nights' user. In a subshell that is to become the command, put `exec` in front of become's words.
become() {
    AS=(env HOME="$dir/home" TMPDIR="$dir/tmp" LC_ALL=C.UTF-8 TZ=UTC)
    ! rooted || AS=(setpriv --reuid=64321 --regid=64321 --clear-groups --inh-caps=-all "${AS[@]}")
}
as() { "${AS[@]}" "$@"; }

world_user() {
    rooted || return 0
    know_user
    mount -t tmpfs -o mode=1777 none /run/lock # GPUs are locked for a whole machine, which this is not
}

# Again before each night: whoever adds a user to the machine meanwhile replaces the file, and the mount is gone.
know_user() {
    ! rooted || grep -q '^soak:' /etc/passwd || {
        printf '%s\nsoak:x:64321:64321::%s:/bin/sh\n' "$(cat /etc/passwd)" "$dir/home" >"$dir/passwd"
        mount --bind "$dir/passwd" /etc/passwd
    }
}

# disk NAME MIB INODES: a file system in an image, mounted at $dir/NAME.
disk() {
    mkdir -p "$dir/$1"
    rooted || return 0
    truncate -s "$2M" "$dir/$1.img"
    mkfs.ext4 -q -F -N "$3" -E lazy_itable_init=1,root_owner=64321:64321 "$dir/$1.img"
    mount -o loop "$dir/$1.img" "$dir/$1"
}

node_up() {
    as scripts/loopback-node start "$dir/node" >"$dir/node.log" 2>&1 9>&- || die "the private sshd did not start: $(tail -n 1 "$dir/node.log")"
}

# shellcheck disable=SC2120 # faults.sh gives options
# line_up OPTION...: the proxy in front of the node, on the port that the ssh configuration names.
line_up() {
    line_down
    rm -f "$dir/port"
    "$dir/bin/faultproxy" --port-file "$dir/port" --control "$dir/control" --to "127.0.0.1:$(cat "$dir/node/port")" \
        ${proxy_port:+--listen "$proxy_port"} "$@" 9>&- &
    proxy=$!
    until_true 20 test -s "$dir/port" || die "the proxy did not start"
    proxy_port=$(cat "$dir/port")
}

line_down() {
    [ -z "$proxy" ] || { say quit && wait "$proxy"; }
    proxy=
}

say() { printf '%s\n' "$1" >"$dir/control"; }

line_config() {
    sed -e "s/^\( *Port\) .*/\1 $proxy_port/" -e "s|^\( *UserKnownHostsFile\) .*|\1 $dir/known|" "$dir/node/ssh_config" >"$dir/ssh_config"
    sed "s/^\[127.0.0.1\]:[0-9]*/[127.0.0.1]:$proxy_port/" "$dir/node/known_hosts" >"$dir/known"
}

# A plan per way to the node: their nights never meet, but they share the node's folder and the store.
plans() {
    local way
    for way in "${ways[@]}"; do
        jq -n --arg dir "$dir" --arg way "$way" --arg token "$secret" '{
            schema: "kernsweep.plan/1", clock: "simulated", ticket: "soak-\($way)", workdir: "\($dir)/disk/work", baseline: "main-\($way)",
            node: (if $way == "local" then "local" else "loopback" end), source: {dir: "\($dir)/src"},
            env: {SOAK: $dir, TOKEN: $token}, secrets: ["TOKEN"],
            variants: [("a", "b") | {name: ., build: [["sh", "-c", "cp {src}/workload.sh {build}/prog && chmod +x {build}/prog"]],
                run: ["{build}/prog", ., "{context}"]}],
            contexts: [16, 32], timeouts: {default: 3}, connect: {timeout_s: 3, patience_s: 4}, lock_wait_s: 10,
            notify: [{on: ["always"], run: ["sh", "-c", ". \"$1/src/look\"; look $PPID >\"$1/marks/harness\"", "sh", $dir]}],
            retention: {keep_bundles: 4, keep_samples: 10, cache_days: 1}}' >"$dir/$way.json"
    done
}

world() {
    mkdir -p "$dir"/{bin,home,tmp,src,node,marks}
    chmod 711 "$dir"
    cp "$build/kernsweep" "$build/kernsweep-executor" "$build/tests/faultproxy" "$dir/bin/" || die "build first: make soak"
    cp tests/soak/workload.sh tests/soak/misdeeds.sh tests/soak/look "$dir/src/"
    become
    world_user
    disk disk 1800 12000
    disk desk 1024 60000
    ! rooted || chown -R 64321:64321 "$dir"/{home,tmp,src,node,marks}
    : >"$dir/marks/starts"
    mkfifo "$dir/control"
    node_up
    # shellcheck disable=SC2119 # none of its options here
    line_up
    line_config
    plans
    ! rooted || chown 64321:64321 "$dir"/*.json "$dir"/known "$dir"/ssh_config
    chmod 600 "$dir"/*.json
}

world_end() {
    line_down
    as scripts/loopback-node stop "$dir/node" >/dev/null 2>&1
    ! rooted || umount -l "$dir/disk" "$dir/desk"
}

# Pids of the nights' processes but sshd's: what a night must not leave behind.
pids_left() {
    local file pid
    for file in /proc/[0-9]*; do
        pid=${file#/proc/}
        if rooted; then
            [ "$(stat -c %u "$file" 2>/dev/null)" = 64321 ] || continue
        else
            grep -qsaF "$dir/" "$file/cmdline" || continue
            if [ "$pid" = "$$" ] || [ "$pid" = "$proxy" ]; then continue; fi
        fi
        case $(cat "$file/comm" 2>/dev/null) in sshd* | '') ;; *) echo "$pid" ;; esac
    done
}

# One process that is stopped for ever would keep the node's folder busy.
kill_left() {
    local pids
    pids=$(pids_left)
    # shellcheck disable=SC2086 # a list
    [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
}

until_true() {
    local deadline=$((SECONDS + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        pause 30
    done
}

# pause MS, without a process
pause() {
    local s
    printf -v s '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
    read -rt "$s" -u 9 || :
}

# between LOW HIGH: milliseconds, in REPLY
between() { REPLY=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1))); }
