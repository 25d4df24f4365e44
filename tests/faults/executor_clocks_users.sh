#!/usr/bin/env bash
# Who may set clocks: without the privilege a run says what is missing; sudo and AMD's programs give it; and what one user's
# killed run left, another user's run puts back if it can, and says if it cannot.
. tests/lib.sh
. tests/executor.sh
. tests/users.sh
. tests/tree.sh
. tests/amdgpu.sh

trap 'amdgpu_stop; rm -rf "$PLACE"' EXIT
amdgpu_node "$PLACE/node"
rm -rf "$ROOT/sys/class/drm/card2" "$ROOT/sys/class/kfd/kfd/topology/nodes/3"
chmod -R a+rX "$ROOT"
chmod 1777 "$ROOT/sys" # as /run/lock is
chmod a+w "$CARD/hwmon/hwmon1/freq1_input" "$CARD/gpu_busy_percent" # what the load shows
RECORD=$ROOT/sys/kernsweep-gpu-1d0fbe6a2a1c0000.clocks.0 # root's
was="auto 500 2100"
amdgpu_start

load() {
    printf 'cd %s; echo %s000000 >hwmon/hwmon1/freq1_input; echo 98 >gpu_busy_percent; sleep 0.7; echo 0 >gpu_busy_percent; %s' "$CARD" "$1" "$good"
}

# tool NAME: a stand-in that sudo runs; its calls are in $PLACE/calls
tool() {
    cat >"$PLACE/tools/$1"
    chmod 755 "$PLACE/tools/$1"
}

no_tools() {
    rm -rf "$PLACE/tools" "$PLACE/calls"
    mkdir -p "$PLACE/tools" "$PLACE/asked"
    chmod 777 "$PLACE/asked"
    : >"$PLACE/calls"
    chmod 666 "$PLACE/calls"
}

# sudo and a program: a user's calls are done by a loop of root's, as sudo would.
privileged() {
    tool sudo <<'END'
#!/bin/bash
[ "$1" = -n ] && shift
ask=$(mktemp -d "${0%/tools/*}/asked/XXXXXX")
printf '%s\n' "$@" >"$ask/words"
mv "$ask/words" "$ask/ready"
for _ in $(seq 500); do [ -e "$ask/done" ] && exit "$(cat "$ask/done")"; sleep 0.02; done
exit 1
END
    (
        while [ -d "$PLACE/asked" ]; do
            for ask in "$PLACE"/asked/*; do
                if [ ! -e "$ask/ready" ] || [ -e "$ask/done" ]; then continue; fi
                mapfile -t words <"$ask/ready"
                CARD=$CARD "${words[@]}"
                echo $? >"$ask/exit" && mv "$ask/exit" "$ask/done"
            done
            sleep 0.02
        done
    ) >/dev/null 2>&1 &
    SUDO=$!
}

unprivileged() {
    kill "$SUDO"
    wait "$SUDO" 2>/dev/null
    no_tools
}

without_privilege() {
    no_tools
    use ann
    clocked denied fixed 1400 "$(load 1400)"
    is "the run is BLOCKED" "$(outcome denied)" BLOCKED
    like "its reason names the file, the user and what to do" "$(summary denied .reason)" \
        "GPU 1d0fbe6a2a1c0000 needs a privilege that user 64001 lacks: .*power_dpm_force_performance_level: cannot write 'manual'.*; run the executor as root"
    is "no record is left" "$(cat "$RECORD" 2>/dev/null)" ""
    clocked warns fixed 1400 "$(load 1400)" '{"clocks_unverified": "warn"}'
    is "where the plan only warns, the run is COMPLETE" "$(outcome warns)" COMPLETE
    like "and says it" "$(summary warns .clocks.warning)" 'needs a privilege'
    is "the clocks are not touched" "$(state)" "$was"
}

# through PROGRAM MODE STATE CALLS
through() {
    use ann
    clocked "by-$1-$2" "$2" 1400 "cp $CARD/pp_od_clk_voltage $CARD/power_dpm_force_performance_level \$KERNSWEEP_OUT; $(load 1400)"
    is "the run is COMPLETE" "$(outcome "by-$1-$2")" COMPLETE
    is "the driver shows the clocks during the test" "$(state_of "$(bundle "by-$1-$2")/v/ctx_64_run1")" "$3"
    is "summary.json says what set them" "$(summary "by-$1-$2" '.clocks.gpus[0].through')" "$1"
    is "the calls are those of its documentation" "$(cat "$PLACE/calls")" "$4"
    clocks_are "the clocks are as before" "$was"
    is "no record is left" "$(cat "$RECORD" 2>/dev/null)" ""
}

amd_smi() {
    no_tools
    privileged
    tool amd-smi <<'END'
#!/bin/bash
echo "$*" >>"${0%/tools/*}/calls"
case "$1 $4" in
"set --perf-level") echo "${5,,}" >"$CARD/power_dpm_force_performance_level" ;;
"set --perf-determinism")
    echo perf_determinism >"$CARD/power_dpm_force_performance_level"
    printf 's 1 %s\nc\n' "$5" >"$CARD/pp_od_clk_voltage" ;;
"set --clk-limit")
    [ "$6" = min ] && echo "s 0 $7" >"$CARD/.min" && exit 0
    { cat "$CARD/.min"; printf 's 1 %s\nc\n' "$7"; } >"$CARD/pp_od_clk_voltage" ;;
*) exit 2 ;;
esac
END
    through amd-smi determinism "perf_determinism 500 1400" \
        "set --gpu 0000:05:00.0 --perf-determinism 1400
set --gpu 0000:05:00.0 --perf-level AUTO"
    : >"$PLACE/calls"
    through amd-smi fixed "manual 1400 1400" \
        "set --gpu 0000:05:00.0 --perf-level MANUAL
set --gpu 0000:05:00.0 --clk-limit sclk min 1400
set --gpu 0000:05:00.0 --clk-limit sclk max 1400
set --gpu 0000:05:00.0 --perf-level AUTO"
    unprivileged
}

rocm_smi() {
    no_tools
    privileged
    tool rocm-smi <<'END'
#!/bin/bash
echo "$*" >>"${0%/tools/*}/calls"
case $5 in
--setperflevel) echo "$6" >"$CARD/power_dpm_force_performance_level" ;;
--setperfdeterminism)
    echo perf_determinism >"$CARD/power_dpm_force_performance_level"
    printf 's 1 %s\nc\n' "$6" >"$CARD/pp_od_clk_voltage" ;;
--setsrange) printf 's 0 %s\ns 1 %s\nc\n' "$6" "$7" >"$CARD/pp_od_clk_voltage" ;;
*) exit 2 ;;
esac
END
    through rocm-smi fixed "manual 1400 1400" \
        "-d 0 --autorespond y --setperflevel manual
-d 0 --autorespond y --setsrange 1400 1400
-d 0 --autorespond y --setperflevel auto"
    unprivileged
}

# What root's killed run left.
other_user() {
    no_tools
    use root
    clocked dead fixed 1400 "sleep 1000"
    waits dead '.event == "TEST_START"'
    kill -9 "$(supervisor dead)"
    use bob
    is "bob's probe says that he cannot put them back" "$(x probe | jq -c '.clocks_left[0] | [.run_id, .user, .can_put_back]')" '["dead","0",false]'
    job bobs "$(shell "$good")"
    run bobs
    is "bob's run goes on" "$(summary bobs .status)" COMPLETE
    like "and says that the GPU still has the clocks of another" "$(messages bobs)" 'GPU 1d0fbe6a2a1c0000 still has the clocks that the run dead set \(fixed, 1400 MHz\): .*user 64002 lacks'
    clocks_are "the clocks are as they were left" "manual 1400 1400"
    chown 64002 "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
    is "with write access, bob's probe says that he can" "$(x probe | jq -c '.clocks_left[0].can_put_back')" true
    job bobs2 "$(shell "$good")"
    run bobs2
    is "bob's next run is COMPLETE" "$(summary bobs2 .status)" COMPLETE
    clocks_are "it has put them back" "$was"
    is "root's record, which he cannot remove, is told no more" "$(x probe | jq -c .clocks_left)" null
    clocked bobs3 fixed 1400 "$(load 1400)"
    is "it is not in the way of his own clocks" "$(outcome bobs3)" COMPLETE
    clocks_are "which are put back" "$was"
    chown 0 "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
    use root
    x cancel --run dead >/dev/null
    rm -f "$RECORD"
}

# replaced COMMAND...: what bob puts in the place of root's record.
replaced() {
    local run=trap-$TESTS
    no_tools
    rm -rf "$RECORD"
    as ann sh -c "echo precious >'$PLACE/ann/precious'"
    as bob "$@"
    use root
    clocked "$run" fixed 1400 "$(load 1400)"
    is "root's run replaces it and is COMPLETE" "$(outcome "$run")" COMPLETE
    clocks_are "the clocks are as before" "$was"
    is "ann's file is unchanged" "$(cat "$PLACE/ann/precious")" precious
}

# Nobody but root can remove what another user has.
in_the_way() {
    local mine=${RECORD%.0}.64001
    no_tools
    as bob touch "$mine"
    chown 64001 "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
    use ann
    clocked in-the-way fixed 1400 "$(load 1400)"
    is "a run that needs a record is BLOCKED" "$(outcome in-the-way)" BLOCKED
    like "it says that no record can be kept" "$(summary in-the-way .reason)" 'the record that is needed to put the clocks back cannot be kept'
    like "and who has to remove what" "$(summary in-the-way .reason)" "$mine: cannot write over a file that its owner or root has to remove"
    is "the clocks are not touched" "$(state)" "$was"
    chown 0 "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
    rm -f "$mine"
}

# forged USER FILE: bob's record of clocks that a run of USER is said to have set; what he may not write stays
forged() {
    jq -nc --argjson user "$1" --arg boot "$(cat "$ROOT/proc/sys/kernel/random/boot_id" 2>/dev/null || echo b)" \
        '{gpu: "1d0fbe6a2a1c0000", run_id: "forged", boot_id: $boot, since: "2026-02-14T00:00:00Z", user: $user, mode: "fixed", mhz: 1400,
        before: {level: "manual", min_mhz: 600, max_mhz: 600}}' >"$PLACE/bob/record"
    chown 64002 "$PLACE/bob/record"
    as bob sh -c "umask 22; cat '$PLACE/bob/record' >'$2'" 2>/dev/null
}

# told_of USER FILE NAME: prints the run whose clocks the user NAME is told of
told_of() {
    forged "$1" "$2"
    use "$3"
    x probe | jq -r '.clocks_left[0].run_id'
}

another_users_record() {
    local of bobs=${RECORD%.0}.64002
    no_tools
    set_state manual 1400 1400
    for of in 0 64001 -1 99999999999; do
        is "root does not believe bob's record of a run of user $of" "$(told_of $of "${RECORD%.0}.$of" root)" null
        is "nor in a file that is called bob's" "$(told_of $of "$bobs" root)" null
        job "forged-$of" "$(shell "$good")"
        run "forged-$of"
        is "a run of root's leaves the clocks alone" "$(state)" "manual 1400 1400"
        rm -f "${RECORD%.0}.$of" "$bobs"
    done
    is "ann does not believe bob's record of a run of hers" "$(told_of 64001 "${RECORD%.0}.64001" ann)" null
    is "nor one of root's" "$(told_of 0 "$RECORD" ann)" null
    rm -f "${RECORD%.0}".*
    is "bob's record of a run of his own is told" "$(told_of 64002 "$bobs" ann)" forged
    chmod a+w "$bobs"
    is "not if others may write it" "$(x probe | jq -r '.clocks_left[0].run_id')" null
    rm -f "$bobs"
    set_state auto 500 2100
}

# written_over USER NAME: bob writes over the record of NAME's run, which dies.
written_over() {
    local of=$1 file=${RECORD%.0}.$1
    no_tools
    chown "$of" "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
    use "$2"
    clocked "$2-dies" fixed 1400 "sleep 1000"
    waits "$2-dies" '.event == "TEST_START"'
    kill -9 "$(supervisor "$2-dies")"
    is "the record is there" "$(jq -r .run_id "$file")" "$2-dies"
    forged "$of" "$file"
    use root
    job "after-$2" "$(shell "$good")"
    run "after-$2"
    clocks_are "root's next run puts back what they were" "$was"
    is "the record is gone" "$(cat "$file" 2>/dev/null)" ""
    use "$2"
    x cancel --run "$2-dies" >/dev/null
    chown 0 "$CARD/power_dpm_force_performance_level" "$CARD/pp_od_clk_voltage"
}

scenario "a user without the privilege" without_privilege
scenario "a record that another user forged" another_users_record
scenario "sudo and amd-smi" amd_smi
scenario "sudo and rocm-smi" rocm_smi
scenario "clocks that another user's killed run left" other_user
scenario "root's record, which another user writes over" written_over 0 root
scenario "a user's record, which another user writes over" written_over 64001 ann
scenario "a symbolic link in the place of root's record" replaced ln -s "$PLACE/ann/precious" "$RECORD"
scenario "a FIFO in the place of root's record" replaced mkfifo -m 666 "$RECORD"
scenario "a file of another in the place of root's record" replaced sh -c "umask 0; echo >'$RECORD'"
scenario "a file of another in the place of a user's record" in_the_way
done_testing
