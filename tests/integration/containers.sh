#!/usr/bin/env bash
# `container` in a plan: builds, gates and tests run in an image, by podman where it works here, and by stand-ins for docker
# and apptainer that note their command lines. Whatever a test does, its container is gone afterwards.
# shellcheck disable=SC2016 # the scripts that are tests expand their own variables
. tests/lib.sh
. tests/held.sh
. tests/executor.sh
. tests/tree.sh
. tests/gpus.sh

IMAGE=localhost/kernsweep-test:1

# in_container ID CONTAINER_JSON SCRIPT [TEST_JSON [JOB_JSON]]
in_container() {
    job "$1" "$(jq -nc --argjson c "$2" --arg s "$3" --argjson t "${4:-"{}"}" --argjson j "${5:-"{}"}" \
        '{variants: [{name: "v", run: ["/bin/sh", "-c", $s], container: $c}], tests: [{variant: "v"} + $t]} + $j')"
}

runlog() {
    cat "$(bundle "$1")/v/ctx_64_run1/run.log"
}

# --- stand-ins ---

# An engine of files: a container is a file with the pid of its program, which is a child of nobody here (a "daemon").
stand_in_engines() {
    mkdir -p "$TMPDIR/engines" "$TMPDIR/containers"
    cat >"$TMPDIR/engines/docker" <<'SH'
#!/bin/bash
# docker, as far as the executor uses it
state=${0%/*}/../containers
printf '%s\n' "$*" >>"$state/../docker.log"
case $1 in
image)
    case $* in *missing*) echo "No such image" >&2; exit 1 ;; esac
    echo 'sha256:1111 ["registry/ks@sha256:abcd"]'
    ;;
pull) echo "manifest unknown" >&2; exit 1 ;;
run)
    shift
    name=
    while [ $# -gt 0 ]; do
        case $1 in
        --name) name=$2; shift 2 ;;
        --init | --userns=* | --privileged) shift ;;
        --*) shift 2 ;;
        *) break ;;
        esac
    done
    shift
    case $name in *unstartable*) exit 125 ;; esac
    : >"$state/$name"
    "$@" &
    echo $! >"$state/$name"
    trap '' TERM
    wait $!
    ;;
container) # inspect --format F NAME
    [ -e "$state/$5" ] || exit 1
    echo "false false"
    ;;
ps)
    case $* in
    *name=^*) all=$*; name=${all##*name=^}; [ ! -e "$state/${name%$}" ] || echo "${name%$}" ;;
    *label=*) ls "$state" ;;
    esac
    ;;
rm)
    [ -e "$state/$4" ] || exit 1
    kill -9 "$(cat "$state/$4")" 2>/dev/null
    rm "$state/$4"
    ;;
esac
SH
    cat >"$TMPDIR/engines/apptainer" <<'SH'
#!/bin/bash
printf '%s\n' "$*" >>"${0%/*}/../apptainer.log"
shift
while [ $# -gt 0 ]; do
    case $1 in
    --rocm | --nv) shift ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
shift
exec "$@"
SH
    chmod +x "$TMPDIR"/engines/*
    PATH=$TMPDIR/engines:$PATH
}

docker_line() {
    needs stand_in_engines
    in_container line '{"engine": "docker", "image": "registry/ks", "options": ["--ipc", "host"]}' "$good; echo secret=\$TOKEN" '{}' \
        '{"env": {"TOKEN": "x-very-secret"}, "secrets": ["TOKEN"], "limit_memory": "256M", "limit_processes": 99}'
    run line
    is "the test is OK" "$(perf line .exit_status)" OK
    local command
    command=$(grep '^run ' "$TMPDIR/docker.log")
    like "it has a name and labels" "$command" '--init --pull never .*--name kernsweep-line-test-1-1-[0-9]+ .*--label kernsweep.run=line --label kernsweep.workdir='
    like "it has the run's folder at the same path" "$command" "--volume $(bundle line):$(bundle line)"
    like "the environment is passed by name" "$command" '--env TOKEN '
    ok "no value of a secret is in the command line" "$(grep -q x-very-secret <<<"$command" && echo 1 || echo 0)"
    like "the engine gets the limits" "$command" '--memory 268435456 --memory-swap 268435456 --pids-limit 99'
    like "the plan's options come last" "$command" '--ipc host registry/ks /bin/sh -c'
    is "perf.json has the image" "$(perf line '.container | "\(.engine) \(.image) \(.digest)"')" "docker registry/ks sha256:abcd"
    is "perf.json says what held it" "$(perf line '"\(.contained) \(.cleanup.group_gone)"')" "container true"
    is "its container is removed" "$(ls "$TMPDIR/containers")" ""
}

image_missing() {
    needs stand_in_engines
    in_container absent '{"engine": "docker", "image": "missing:1"}' "$good"
    run absent
    is "the test is skipped" "$(perf absent .exit_status)" SKIPPED
    like "the reason has the image and the engine's words" "$(perf absent .reason)" 'BUILD_FAILED: the image missing:1 is not on this node and cannot be pulled: manifest unknown'
}

engine_missing() {
    in_container nobody '{"engine": "podman", "image": "x"}' "$good"
    PATH=/nonexistent run nobody
    like "the reason names the engine" "$(perf nobody .reason)" 'the container engine podman is not on this node'
}

# The client dies, what it started in the daemon does not: only the engine knows of it.
daemon_survives() {
    needs stand_in_engines
    in_container stubborn '{"engine": "docker", "image": "registry/ks"}' "trap '' TERM; while :; do sleep 181; done" '{"timeout_s": 0.5}'
    run stubborn
    is "the test is TIMEOUT" "$(perf stubborn .exit_status)" TIMEOUT
    is "its container is removed" "$(ls "$TMPDIR/containers")" ""
    is "its end is proven" "$(perf stubborn .cleanup.group_gone)" true
}

container_stays() {
    needs stand_in_engines
    in_container stays '{"engine": "docker", "image": "registry/ks"}' "$good"
    mkdir -p "$TMPDIR/broken"
    sed 's/^rm)/rm) exit 1 ;; never)/' "$TMPDIR/engines/docker" >"$TMPDIR/broken/docker"
    chmod +x "$TMPDIR/broken/docker"
    PATH=$TMPDIR/broken:$PATH run stays
    is "nothing is claimed" "$(perf stays .cleanup.group_gone)" false
    rm -f "$TMPDIR"/containers/*
}

# The engine removes the first test's container only once the second test, on the other GPU, has its end in the journal; that
# test ends only once the removal has begun.
slow_engine() {
    needs stand_in_engines
    mkdir -p "$TMPDIR/slow"
    {
        sed '/^rm)/,$d' "$TMPDIR/engines/docker"
        cat <<SH
rm)
    case \$4 in
    *-test-1-*)
        touch "$TMPDIR/slow/began"
        for i in {1..200}; do
            jq -e 'select(.event == "TEST_END" and .test_index == 2)' "$(bundle slow)/events.jsonl" >/dev/null && break
            sleep 0.1
        done
        [ \$i -lt 200 ] && echo yes >"$TMPDIR/slow/went-on"
        ;;
    esac
SH
        sed '1,/^rm)/d' "$TMPDIR/engines/docker"
    } >"$TMPDIR/slow/docker"
    chmod +x "$TMPDIR/slow/docker"
    amd_gpus "$TMPDIR/two" 2
    job slow "$(jq -nc --arg s "[ \$1 = 1 ] || while [ ! -e $TMPDIR/slow/began ]; do sleep 0.05; done; $good" '{gpus: "all", sample_interval_ms: 50, vram_settle_s: 0.3,
        variants: [{name: "v", run: ["/bin/sh", "-c", $s, "sh", "{context}"], container: {engine: "docker", image: "registry/ks"}}],
        tests: [{variant: "v", context: 1}, {variant: "v", context: 2}]}')"
    PATH=$TMPDIR/slow:$PATH run slow --sysfs "$TMPDIR/two/sys"
    is "both tests are OK" "$(statuses slow)" "OK OK"
    is "one ends while the engine removes the other's container" "$(cat "$TMPDIR/slow/went-on" 2>&1)" yes
    is "both ends are proven" "$(cat "$(bundle slow)"/v/ctx_*/perf.json | jq -s 'map(.cleanup.group_gone) | all')" true
    is "their containers are removed" "$(ls "$TMPDIR/containers")" ""
}

# A run that is cancelled removes its containers, too.
cancelled() {
    needs stand_in_engines
    in_container stopped '{"engine": "docker", "image": "registry/ks"}' "trap '' TERM; while :; do sleep 184; done"
    submit stopped
    until_true 20 alive '^sleep 184'
    x cancel --run stopped >/dev/null
    follow stopped
    is "the run is CANCELLED" "$(summary stopped .status)" CANCELLED
    is "its container is removed" "$(ls "$TMPDIR/containers")" ""
    is "its end is proven" "$(perf stopped .cleanup.group_gone)" true
}

# A user's own podman leaves a process behind at its first command, which holds the user's namespace for all later ones.
first_podman() {
    needs stand_in_engines
    mkdir -p "$TMPDIR/rootless"
    {
        echo '#!/bin/bash'
        echo "pgrep -f '^sleep 186\$' >/dev/null || (setsid sleep 186 </dev/null >/dev/null 2>&1 &)"
        sed 1d "$TMPDIR/engines/docker"
    } >"$TMPDIR/rootless/podman"
    chmod +x "$TMPDIR/rootless/podman"
    in_container first '{"engine": "podman", "image": "registry/ks"}' "$good"
    PATH=$TMPDIR/rootless:$PATH run first
    is "the test is OK" "$(perf first '"\(.exit_status) \(.reason)"')" "OK "
    is "nothing counts as left by it" "$(perf first '"\(.cleanup.leftovers) \(.cleanup.group_gone)"')" "0 true"
    ok "podman's process is left alone" "$(alive '^sleep 186' >/dev/null && echo 0 || echo 1)"
    kill "$(alive '^sleep 186')"
}

apptainer_line() {
    needs stand_in_engines
    echo image >"$TMPDIR/ks.sif"
    in_container sif "$(jq -nc --arg i "$TMPDIR/ks.sif" '{engine: "apptainer", image: $i}')" "$good"
    run sif
    is "the test is OK" "$(perf sif .exit_status)" OK
    like "its folders are bound" "$(cat "$TMPDIR/apptainer.log")" "^exec --pwd $(bundle sif)/v/ctx_64_run1 --bind $(bundle sif):"
    is "the image's hash is kept" "$(perf sif .container.digest)" "sha256:$(sha256sum "$TMPDIR/ks.sif" | cut -d ' ' -f 1)"
}

# --- podman ---

# An image of busybox; storage and settings of the script's own.
podman_image() {
    local root=$TMPDIR/rootfs tool
    mkdir -p "$root/bin" "$TMPDIR/pm"
    cp "$(command -v busybox)" "$root/bin/busybox"
    for tool in sh sleep echo cat env id tail true test; do ln -s busybox "$root/bin/$tool"; done
    cat >"$TMPDIR/pm/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
    printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/pm/root"\nrunroot = "%s/pm/run"\n' "$TMPDIR" "$TMPDIR" >"$TMPDIR/pm/storage.conf"
    export CONTAINERS_CONF=$TMPDIR/pm/containers.conf CONTAINERS_STORAGE_CONF=$TMPDIR/pm/storage.conf
    tar -C "$root" -c . | podman import - "$IMAGE" >/dev/null 2>&1 && [ "$(podman run --rm "$IMAGE" echo works 2>&1)" = works ]
}

containers_left() {
    podman ps --all --quiet | wc -l
}

podman_test() {
    in_container real "{\"engine\": \"auto\", \"image\": \"$IMAGE\"}" \
        "$good; echo \"init \$(cat /proc/1/comm)\"; echo \"got \$GREETING\"; echo made >\$KERNSWEEP_OUT/own.txt" '{}' '{"env": {"GREETING": "two words"}}'
    run real
    is "the test is OK" "$(perf real '"\(.exit_status) \(.reason)"')" "OK "
    like "it sees the environment" "$(runlog real)" '^got two words$'
    is "what it writes to its folder comes home" "$(cat "$(bundle real)/v/ctx_64_run1/own.txt")" made
    like "the image's digest is kept" "$(perf real .container.digest)" '^sha256:[0-9a-f]{64}$|^[0-9a-f]{64}$'
    is "perf.json says what held it" "$(perf real '"\(.contained) \(.cleanup.group_gone) \(.cleanup.leftovers)"')" "container true 0"
    is "no container is left" "$(containers_left)" 0
}

podman_build() {
    in_container make "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" 'cat {build}/made; echo "[PERF_TIMING] {\"prefill_s\": 1}"'
    edit make '.job.variants[0].build = [["/bin/sh", "-c", "cat /bin/only-here >/dev/null 2>&1; echo from-the-image >made"]]'
    run make
    like "the test finds what the build made" "$(runlog make)" '^from-the-image$'
    is "the test is OK" "$(perf make .exit_status)" OK
    is "no container is left" "$(containers_left)" 0
}

podman_fails() {
    in_container fails "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" 'exit 5'
    run fails
    is "its exit code is the test's" "$(perf fails '"\(.exit_status) \(.exit_code)"')" "FAIL 5"
}

podman_ignores_term() {
    in_container deaf "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" "trap '' TERM; while :; do sleep 182; done" '{"timeout_s": 2}'
    run deaf
    is "the test is TIMEOUT" "$(perf deaf .exit_status)" TIMEOUT
    is "its end is proven" "$(perf deaf .cleanup.group_gone)" true
    ok "no process of it is left" "$(alive '^sleep 182' >/dev/null && echo 1 || echo 0)"
    is "no container is left" "$(containers_left)" 0
}

podman_memory() {
    in_container big "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" 'tail /dev/zero' '{}' '{"limit_memory": "48M"}'
    run big
    is "the test is OOM" "$(perf big .exit_status)" OOM
    like "the reason names the limit" "$(perf big .reason)" 'limits.memory 48M|Memory cgroup out of memory'
}

podman_executor_killed() {
    in_container orphan "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" "trap '' TERM; while :; do sleep 183; done"
    submit orphan
    until_true 30 alive '^sleep 183'
    kill -9 "$(supervisor orphan)"
    sleep 0.5
    is "its container is still there" "$(containers_left)" 1
    in_container after "{\"engine\": \"podman\", \"image\": \"$IMAGE\"}" "$good"
    run after
    is "the next run's test is OK" "$(perf after .exit_status)" OK
    like "the journal says so" "$(messages after)" 'removed 1 container left'
    ok "no process of it is left" "$(alive '^sleep 183' >/dev/null && echo 1 || echo 0)"
    is "no container is left" "$(containers_left)" 0
}

# real TITLE FUNCTION
real() {
    if command -v podman >/dev/null && command -v busybox >/dev/null && podman_works; then
        scenario "$1" "$2"
    else
        skip_scenario "$1" "podman does not run here (scripts/install-deps contain)"
    fi
}

works=
podman_works() {
    [ -n "$works" ] || { podman_image && works=yes || works=no; }
    [ "$works" = yes ]
}

real "a test in podman" podman_test
real "a build in podman" podman_build
real "a test that fails in podman" podman_fails
real "a time-out in podman with a program that ignores SIGTERM" podman_ignores_term
real "a limit of memory in podman" podman_memory
real "an executor that is killed while podman runs its test" podman_executor_killed
# engine_says TEXT: a docker that counts how often it is asked. Its size differs with the text.
engine_says() {
    mkdir -p "$TMPDIR/versions"
    printf '#!/bin/sh\necho asked >>%s/asked\n%s\n' "$TMPDIR" "$1" >"$TMPDIR/versions/docker"
    chmod +x "$TMPDIR/versions/docker"
}

docker_version() {
    mkdir -p "$WORK"
    PATH=$TMPDIR/versions:$PATH x probe | jq -r '.engines[] | select(.name == "docker").version'
}

versions_cached() {
    engine_says 'echo Docker version 1.2'
    is "the version is asked for" "$(docker_version)" "Docker version 1.2"
    is "the next look gives the same" "$(docker_version)" "Docker version 1.2"
    is "and does not ask" "$(grep -c asked "$TMPDIR/asked")" 1
    engine_says 'echo Docker version 1.31'
    is "another program is asked" "$(docker_version)" "Docker version 1.31"
    engine_says 'exit 1'
    is "one that fails has none" "$(docker_version)" null
    is "it is asked again" "$(docker_version) $(grep -c asked "$TMPDIR/asked")" "null 4"
}

scenario "an engine that is not there" engine_missing
scenario "the versions of engines" versions_cached
held_scenario '.memory and .processes' "docker's command line" docker_line
scenario "an image that cannot be had" image_missing
scenario "a time-out with work in docker's daemon" daemon_survives
scenario "a container that cannot be removed" container_stays
scenario "the first test in a user's own podman" first_podman
scenario "an engine that is slow to remove a container" slow_engine
scenario "a run that is cancelled while docker runs its test" cancelled
scenario "apptainer's command line" apptainer_line
done_testing
