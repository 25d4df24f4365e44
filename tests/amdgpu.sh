# shellcheck shell=bash
# tests/amdgpu.sh: a node with MI300X GPUs as a tree of files, and a stand-in for amdgpu's control of their clocks: a loop
# that turns what is written to pp_od_clk_voltage into what the driver would show there. Source it after tests/tree.sh.

# amdgpu_node ROOT: a well-tuned node, played by KERNSWEEP_FAKE_ROOT
amdgpu_node() {
    ROOT=$1
    lay_tree "$ROOT" tests/fixtures/mi300x/well_tuned
    export KERNSWEEP_FAKE_ROOT=$ROOT
    CARD=$ROOT/sys/class/drm/card1/device
}

# show_limits DEVICE MIN MAX: uses one write whose length never changes, so that concurrent readers see no partial file
show_limits() {
    printf 'OD_SCLK:\n0: %5sMhz\n1: %5sMhz\nOD_MCLK:\n0:   900Mhz\n1:  1300Mhz\n' "$2" "$3" 1<>"$1/pp_od_clk_voltage"
    echo "$2 $3" >"$1/limits"
}

# drive DEVICE: does what the driver does when one of the files is written. It only uses built-in commands and must be fast,
# as the real driver is done when write() returns.
drive() {
    local level min=500 max=2100 line number value applied=
    local -a lines
    # Reads the limits before the level, in the reverse order of set_state, so that new limits are never seen with an old
    # level.
    [ ! -e "$1/limits" ] || read -r min max <"$1/limits"
    read -r level <"$1/power_dpm_force_performance_level"
    [ "$max" ] || return 0 # just being written
    mapfile -t lines <"$1/pp_od_clk_voltage"
    for line in "${lines[@]}"; do
        read -r line number value <<<"$line"
        case $line$number in
        s0) min=$value ;;
        s1) max=$value ;;
        c) applied=1 && break ;;
        esac
    done
    if [ "$applied" ]; then
        show_limits "$1" "$min" "$max"
    elif [ "$min $max" != "500 2100" ]; then
        case $level in '' | manual | perf_determinism) return 0 ;; esac # empty: just being written
        show_limits "$1" 500 2100
    fi
}

# The driver: does nothing while $ROOT/stuck exists.
amdgpu_start() {
    (
        exec {never}<> <(:)
        while [ -d "$ROOT" ]; do
            if [ ! -e "$ROOT/stuck" ]; then
                for device in "$ROOT"/sys/class/drm/card*/device; do drive "$device"; done
            fi
            read -rt 0.02 _ <&"$never" # sleep would be a process each time
        done
    ) >/dev/null 2>&1 &
    DRIVER=$!
}

amdgpu_stop() {
    kill "$DRIVER" 2>/dev/null
    wait "$DRIVER" 2>/dev/null
}

# state_of DEVICE: "LEVEL MIN MAX"
state_of() {
    local device=$1
    printf '%s %s\n' "$(head -n 1 "$device/power_dpm_force_performance_level")" \
        "$(sed -n '/OD_SCLK/,/OD_MCLK/s/^[01]: *\([0-9]*\)Mhz/\1/p' "$device/pp_od_clk_voltage" | xargs)"
}

# state: that of the first GPU
state() {
    state_of "$CARD"
}

# clocks_are TITLE STATE [DEVICE]: waits for the stand-in, as it is not done when write() returns, unlike the real driver.
clocks_are() {
    # shellcheck disable=SC2317,SC2329 # called by until_true
    is_state() { [ "$(state_of "$2")" = "$1" ]; }
    until_true 20 is_state "$2" "${3:-$CARD}"
    is "$1" "$(state_of "${3:-$CARD}")" "$2"
}

# set_state LEVEL MIN MAX: sets them as an administrator does
set_state() {
    echo "$1" >"$CARD/power_dpm_force_performance_level"
    show_limits "$CARD" "$2" "$3"
}
