#!/usr/bin/env bash
# A plan on a node of eight GPUs: which it gets, what its tests see, what becomes of a GPU that another run has or that breaks, and
# that a cell finds its GPU again on the next night.
# shellcheck disable=SC2016 # the programs of the plans have variables of their own
. tests/lib.sh
. tests/pipeline.sh
. tests/tree.sh
. tests/gpus.sh

unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES SLURM_JOB_ID SLURM_JOB_GPUS SLURM_STEP_GPUS

# gpu_plan FILTER FILE: two variants at four contexts, changed by a jq filter
gpu_plan() {
    jq -n --arg node "$PLAN_NODE" --arg workdir "$TMPDIR/work" --arg use "$USE_GPU" '
        {schema: "kernsweep.plan/1", ticket: "gpus", node: $node, workdir: $workdir, contexts: [1, 2, 3, 4],
         timeouts: {default: 30}, vram_settle_s: 0.3, sampling: {interval_ms: 20}, kill_grace_s: 0.2,
         env: {USE_NAME: "{variant}/{context}/{repetition}"},
         variants: [{name: "a", run: [$use, "0.5"]}, {name: "b", run: [$use, "0.5"]}]} | '"$1" >"$2"
}

# sweep TAG FILTER [OPTION...]: its bundle is BUNDLE
sweep() {
    local tag=$1-$GPUS_VENDOR
    rm -f "$GPUS_ROOT/used" "$GPUS_ROOT/began"
    gpu_plan "$2" "$TMPDIR/$tag.json"
    try ks_run "$TMPDIR/$tag.json" --tag "$tag" "${@:3}"
    BUNDLE=$(bundle_of "$tag")
}

# of_tests FILTER: sorted and joined, over the perf.json of all tests
of_tests() {
    find "$BUNDLE" -name perf.json -exec cat {} + | jq -r "$1" | sort | xargs
}

# used_words: what the tests were let see, each once
used_words() {
    cut -d' ' -f 3 "$GPUS_ROOT/used" | sort -u | xargs
}

words() {
    local i
    for i; do gpu_word "$i"; done | xargs
}

ids() {
    local i
    for i; do gpu_id "$i"; done | xargs
}

# hold INDEX...: another run has these GPUs, until release
hold() {
    local i
    HOLDERS=()
    for i; do
        flock_gpu "$(gpu_id "$i")" &
        HOLDERS+=($!)
    done
    for i; do until_true 10 test -e "$TMPDIR/held.$(gpu_id "$i")"; done
}

# The executor's locks are those of fcntl on an open file: a process of the executor itself holds them best.
flock_gpu() {
    local work=$TMPDIR/holder.$1
    jq -n --arg id "holder-$1" --arg gpu "$1" --arg mark "$TMPDIR/held.$1" '
        {plan: {ticket: "t"}, job: {schema: "kernsweep.job/1", run_id: $id, ticket: "t", gpus: [$gpu],
         variants: [{name: "v", run: ["sh", "-c", "touch \($mark); sleep 60"]}],
         tests: [{index: 1, variant: "v", context: 1, repetition: 1, timeout_s: 60}]}}' |
        "$KERNSWEEP_EXECUTOR" submit --workdir "$work" >/dev/null
}

release() {
    local i
    for i; do
        "$KERNSWEEP_EXECUTOR" cancel --workdir "$TMPDIR/holder.$(gpu_id "$i")" --run "holder-$(gpu_id "$i")" >/dev/null
        rm -rf "$TMPDIR/held.$(gpu_id "$i")" "$TMPDIR/holder.$(gpu_id "$i")"
    done
    wait
}

one() {
    sweep one .
    exited "exits 0" 0
    is "every test sees the first GPU alone" "$(used_words)" "$(words 0)"
    is "perf.json names it" "$(of_tests '.gpus | map(.id) | join("+")' | tr ' ' '\n' | sort -u)" "$(ids 0)"
    is "the memory that is measured is that GPU's" "$(of_tests '.vram.peak_bytes / 1048576' | tr ' ' '\n' | sort -u)" 1300
    is "no test ran beside another" "$(of_tests .beside | tr ' ' '\n' | sort -u)" 0
}

all() {
    sweep all '.gpus = "all"'
    exited "exits 0" 0
    is "each point is on a GPU of its own, both variants of it" "$(of_tests '"\(.context_len)@\(.gpus[0].id)"' | tr ' ' '\n' | sort | uniq -c | awk '{print $1}' | xargs)" "2 2 2 2"
    is "tests overlap" "$(of_tests '.beside > 0' | tr ' ' '\n' | sort -u)" true
    is "each saw one GPU" "$(used_words | wc -w)" 4
    is "the memory that is measured is that of one GPU" "$(of_tests '.vram.peak_bytes / 1048576' | tr ' ' '\n' | sort -u)" 1300
    is "all memory is given back" "$(of_tests .cleanup.vram_back | tr ' ' '\n' | sort -u)" true
}

# Each test takes 0.2 s until it uses memory of its GPU, as one that starts CUDA.
starts_in_turn() {
    sweep turn '.gpus = ["0", "1", "2"] | .repetitions = 2 | .contexts = [1, 2, 3] | .variants |= [.[0] | .run = ["bash", "-c",
        "began=$EPOCHREALTIME; sleep 0.2; echo $began $EPOCHREALTIME >>'"$GPUS_ROOT"'/starts; exec \(.run[0]) 0.7"]]'
    exited "exits 0" 0
    is "all tests started" "$(wc -l <"$GPUS_ROOT/starts")" 6
    is "none before the one before it used its GPU" "$(sort "$GPUS_ROOT/starts" | awk '$1 < used { print } { used = $2 }')" ""
    is "while others ran" "$(of_tests '.beside > 0' | tr ' ' '\n' | sort -u)" true
}

bound() {
    if [ "$(nproc)" -lt 2 ]; then skip "tests are bound to the CPUs near their GPU" "one CPU"; return; fi
    sweep bound '.gpus = "all" | .variants |= map(.run = ["sh", "-c", "echo cpus $(taskset -cp $$ | sed s/.*://); exec \(.run[0]) 0.2"])'
    is "tests are bound to the CPUs near their GPU" \
        "$(of_tests '"\(.gpus[0].index / 4 | floor)=\(.cpus)"' | tr ' ' '\n' | awk -F= '$1 != $2' | wc -l)" 0
    is "and so are the processes" "$(grep -h '^cpus' "$BUNDLE"/*/*/run.log | sort -u | xargs)" \
        "$(of_tests '"cpus \(.cpus)"' | xargs -n 2 | sort -u | xargs)"
}

# Tests start one after the other: the first must not have ended when the last one starts. The ticket is their own, as what other
# sweeps measured may leave a GPU without a cell.
EIGHT_AT_ONCE='.ticket = "eight" | .gpus = "all" | .placement = "cell" | .env.USE_TOGETHER = "8"'

cells() {
    sweep cells "$EIGHT_AT_ONCE"
    exited "exits 0" 0
    is "eight cells use eight GPUs" "$(used_words)" "$(words 0 1 2 3 4 5 6 7)"
}

listed() {
    sweep listed '.gpus = ["3", "'"$(gpu_word 5)"'"]'
    exited "exits 0" 0
    is "the tests use the GPUs that the plan lists" "$(used_words)" "$(words 3 5)"
    sweep pci '.gpus = ["'"$(gpu_pci 6)"'"]'
    is "a GPU is named by its PCI address, too" "$(used_words)" "$(words 6)"
    sweep unknown '.gpus = ["3", "nonsense"]'
    exited "a plan that lists an unknown GPU exits 3" 3
    like "the error names it and what there is" "$ERR$OUT" "nonsense.*0 \\($(gpu_id 0)\\), 1 \\($(gpu_id 1)\\)"
}

gated() {
    hold 0
    sweep gated '.ticket = "gated" | .variants |= [.[0] | .gates = [{kind: "command", run: ["sh", "-c", "echo sees $ROCR_VISIBLE_DEVICES"]}]]'
    exited "exits 0" 0
    like "gates see the GPU of the run, not one that another run has" "$(cat "$BUNDLE/a/gate.log")" "^sees $(gpu_word 1)\$"
    release 0
}

several() {
    sweep several '.gpus = "all" | .gpus_per_test = 2'
    exited "exits 0" 0
    is "each test sees two neighbours" "$(used_words)" "$(words 0),$(words 1) $(words 2),$(words 3) $(words 4),$(words 5) $(words 6),$(words 7)"
    is "their memory before is that of both" "$(of_tests '.vram.before_bytes | if . then . / 1048576 else "unknown" end' | tr ' ' '\n' | sort -u)" 600
    is "the memory that is measured is that of both" "$(of_tests '.vram.peak_bytes / 1048576' | tr ' ' '\n' | sort -u)" 2600
}

every() {
    sweep every '.gpus = ["0", "1", "2"] | .placement = "every" | .contexts = [1] | .repetitions = 2'
    exited "exits 0" 0
    is "each cell runs on each GPU" "$(of_tests '"\(.variant)@\(.gpus[0].index)"' | tr ' ' '\n' | uniq -c | awk '{print $1 $2}' | xargs)" "2a@0 2a@1 2a@2 2b@0 2b@1 2b@2"
    is "repetitions are numbered on through the GPUs" "$(of_tests 'select(.variant == "a") | "\(.gpus[0].index)=\(.repetition)"')" "0=1 0=2 1=3 1=4 2=5 2=6"
}

same_every_night() {
    hold 0 1
    sweep first_night '.ticket = "nights"'
    is "with two GPUs in use, the run takes the third" "$(used_words)" "$(words 2)"
    release 0 1
    sweep second_night '.ticket = "nights"'
    is "on the next night it takes that one again, though the first is free" "$(used_words)" "$(words 2)"
    sweep points_once '.ticket = "points" | .gpus = "all"'
    of_tests '"\(.context_len)@\(.gpus[0].id)"' >"$TMPDIR/once"
    sweep points_again '.ticket = "points" | .gpus = "all" | .contexts = [4, 3, 2, 1]'
    is "every point is on its GPU again, in whatever order the plan has them" "$(of_tests '"\(.context_len)@\(.gpus[0].id)"')" "$(cat "$TMPDIR/once")"
}

locked() {
    hold 0 1 2 3 4 5
    sweep some '.gpus = "all"'
    exited "a run of all GPUs exits 0" 0
    is "it uses those that are free" "$(used_words)" "$(words 6 7)"
    like "it says without which" "$(jq -r 'select(.event == "NODE") | .message // ""' "$BUNDLE/events.jsonl")" "continuing without a GPU: GPU $(gpu_id 0) is used by the run holder-$(gpu_id 0)"
    sweep refused '.gpus = ["0", "7"]'
    exited "a run of listed GPUs of which one is in use exits 3" 3
    like "it names the holder" "$ERR$OUT" "holder-$(gpu_id 0)"
    release 0 1 2 3 4 5
}

keeps_its_memory() {
    # The first test on the second GPU leaves 500 MiB in use.
    sweep dirty '.gpus = ["0", "1", "2"] | .contexts = [1, 2, 3] | .repetitions = 2 | .variants |= map(.run = ["sh", "-c",
        "case ,$ROCR_VISIBLE_DEVICES$CUDA_VISIBLE_DEVICES, in *,'"$(gpu_word 1)"',*) exec \(.run[0]) 0.2 1000 500 ;; esac; exec \(.run[0]) 0.2"])'
    exited "exits 0, since no test is lost" 0
    is "the run is COMPLETE" "$(jq -r .status "$BUNDLE/summary.json")" COMPLETE
    is "the GPU is taken out" "$(jq -r 'select(.gpu_out) | .gpu_out' "$BUNDLE/events.jsonl")" "$(gpu_id 1)"
    is "one test ran on it" "$(of_tests 'select(.gpus[0].index == 1) | 1')" 1
    is "all others ran on the others" "$(of_tests .exit_status | tr ' ' '\n' | sort | uniq -c | xargs)" "12 OK"
    for i in 0 1 2; do gpu_memory "$i" 300; done
}

falls_off() {
    local gone
    # The first test on the third GPU ends with the GPU gone.
    gone=$(if [ "$GPUS_VENDOR" = amd ]; then printf 'rm -f %s' "$(gpu_file 2)"; else printf 'echo 0 0 lost 1 >%s' "$(gpu_file 2)"; fi)
    sweep off '.gpus = ["1", "2"] | .contexts = [1, 2] | .repetitions = 2 | .variants |= map(.run = ["sh", "-c",
        "\(.run[0]) 0.2; case ,$ROCR_VISIBLE_DEVICES$CUDA_VISIBLE_DEVICES, in *,'"$(gpu_word 2)"',*) '"$gone"' ;; esac"])'
    like "it says that the GPU does not answer" "$(jq -r 'select(.gpu_out) | .message' "$BUNDLE/events.jsonl")" "GPU $(gpu_id 2) no longer answers"
    is "what is left moves to the other" "$(of_tests 'select(.gpus[0].index == 1) | .exit_status' | tr ' ' '\n' | sort | uniq -c | xargs)" "7 OK"
    gpu_memory 2 300
}

memory_errors() {
    local count
    # The first test on the second GPU ends with three errors more.
    if [ "$GPUS_VENDOR" = amd ]; then
        count="printf 'ue: 3\\nce: 0\\n' >$GPUS_ROOT/sys/class/drm/card1/device/ras/umc_err_count"
    else
        gpu_memory 1 300 ue 0
        count="echo $((300 * GPU_MIB)) 0 ue 3 >$TMPDIR/errors; mv $TMPDIR/errors $(gpu_file 1)"
    fi
    sweep ecc '.gpus = ["0", "1"] | .contexts = [1, 2] | .repetitions = 2 | .variants |= [.[0] | .run = ["sh", "-c",
        "\(.run[0]) 0.2; case ,$ROCR_VISIBLE_DEVICES$CUDA_VISIBLE_DEVICES, in *,'"$(gpu_word 1)"',*) '"${count//\\/\\\\}"' ;; esac"]]'
    like "it is taken out" "$(jq -r 'select(.gpu_out) | .message' "$BUNDLE/events.jsonl")" "GPU $(gpu_id 1) has had 3 uncorrectable memory errors"
}

# From its first test on, what NVML says of the second GPU takes longer than anybody waits for it: no reason for the first to miss
# samples, or not to know its memory.
slow_nvml() {
    # Cells of earlier scenarios would go back to the GPUs that they were on.
    sweep slow '.gpus = ["0", "1"] | .contexts = [11, 12] | .repetitions = 3 | .variants |= [.[0] | .run = ["sh", "-c",
        "case {context} in 11) exec \(.run[0]) 2 ;; esac; echo $((300 * 1048576)) 0 slow 60000 >'"$TMPDIR"'/slow; mv '"$TMPDIR"'/slow '"$(gpu_file 1)"'; sleep 0.1; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.05}\""]]'
    exited "exits 0" 0
    is "all tests are OK" "$(of_tests .exit_status)" "OK OK OK OK OK OK"
    is "they ran beside each other" "$(of_tests 'select(.context_len == 11 and .repetition == 1) | .beside')" 1
    # 100 of them in 2 s, less those that a busy machine misses
    is "the tests of the first GPU have their samples" "$(of_tests 'select(.context_len == 11) | .vram.samples > 50')" "true true true"
    like "their memory before and after is known" "$(of_tests 'select(.context_len == 11) | "\(.vram.before_bytes)-\(.vram.after_bytes)"')" 314572800-314572800
    gpu_memory 1 300
}

# A NUMA node that does not exist stands for a container that does not permit to choose one.
unbound() {
    local i
    for ((i = 0; i < GPUS_COUNT; i++)); do echo 60 >"$GPUS_ROOT/sys/bus/pci/devices/$(gpu_pci "$i")/numa_node"; done
    if [ "$(nproc)" -lt 2 ]; then skip "tests that cannot be bound" "one CPU"; return; fi
    sweep unbound '.gpus = "all"'
    exited "exits 0" 0
    is "each perf.json has what could not be bound" "$(of_tests '.unbound.memory // "bound"' | tr ' ' '\n' | sort -u | wc -l)" 2
    unlike "none says that it was" "$(of_tests '.unbound.memory // "bound"')" bound
    is "the run warns of it once" "$(jq -r 'select(.event == "NODE") | .message // ""' "$BUNDLE/events.jsonl" | grep -c 'not bound to the memory near their GPU')" 1
    for ((i = 0; i < GPUS_COUNT; i++)); do echo 0 >"$GPUS_ROOT/sys/bus/pci/devices/$(gpu_pci "$i")/numa_node"; done
}

through_sshd() {
    NODE_ENV="KERNSWEEP_FAKE_ROOT=$KERNSWEEP_FAKE_ROOT"
    node_start || { skip "through a real sshd" "no private sshd"; return; }
    PLAN_NODE=loopback KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
    sweep ssh "$EIGHT_AT_ONCE"
    exited "exits 0" 0
    is "eight cells use eight GPUs" "$(used_words)" "$(words 0 1 2 3 4 5 6 7)"
    PLAN_NODE=local KS_OPTIONS=()
}

node_of() {
    "$1_gpus" "$TMPDIR/$1" 8 || return 1
}

pipeline_setup
for vendor in amd nvidia; do
    node_of "$vendor" || continue
    scenario "one of eight GPUs ($vendor)" one
    scenario "all eight GPUs ($vendor)" all
    scenario "tests start one at a time ($vendor)" starts_in_turn
    scenario "each cell on a GPU of its own ($vendor)" cells
    scenario "listed GPUs ($vendor)" listed
    scenario "two GPUs for each test ($vendor)" several
    scenario "a GPU that keeps its memory ($vendor)" keeps_its_memory
    scenario "a GPU that falls off the bus ($vendor)" falls_off
    scenario "a GPU with memory errors ($vendor)" memory_errors
    [ "$vendor" = amd ] || scenario "a GPU whose counters are slow to read" slow_nvml
    [ "$vendor" = amd ] || continue
    scenario "CPUs near a GPU" bound
    scenario "tests that cannot be bound" unbound
    scenario "each cell on every GPU" every
    scenario "the same GPU every night" same_every_night
    scenario "GPUs that another run has" locked
    scenario "gates of a run on one of eight GPUs" gated
    scenario "eight GPUs through sshd" through_sshd
done
done_testing
