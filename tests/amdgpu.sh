# shellcheck shell=bash
# tests/amdgpu.sh: a node with MI300X GPUs as a tree of files, and a stand-in for amdgpu's control of their clocks: a loop that
# turns what is written to pp_od_clk_voltage into what the driver would show there. Source it after tests/tree.sh.

# amdgpu_node ROOT: a well-tuned node, played by KERNSWEEP_FAKE_ROOT
amdgpu_node() {
    ROOT=$1
    lay_tree "$ROOT" tests/fixtures/mi300x/well_tuned
    export KERNSWEEP_FAKE_ROOT=$ROOT
    CARD=$ROOT/sys/class/drm/card1/device
}

# show_limits DEVICE MIN MAX: as one step, for whoever reads meanwhile
show_limits() {
    printf 'OD_SCLK:\n0: %sMhz\n1: %sMhz\nOD_MCLK:\n0: 900Mhz\n1: 1300Mhz\n' "$2" "$3" >"$1/limits.new"
    chmod --reference="$1/pp_od_clk_voltage" "$1/limits.new"
    mv -f "$1/limits.new" "$1/pp_od_clk_voltage"
    echo "$2 $3" >"$1/limits"
}

# drive DEVICE: what the driver does when one of the files was written
drive() {
    local level min=500 max=2100 command index value
    level=$(head -n 1 "$1/power_dpm_force_performance_level")
    [ ! -e "$1/limits" ] || read -r min max <"$1/limits"
    if grep -qx c "$1/pp_od_clk_voltage"; then
        while read -r command index value; do
            case $command$index in
            s0) min=$value ;;
            s1) max=$value ;;
            c) break ;;
            esac
        done <"$1/pp_od_clk_voltage"
        show_limits "$1" "$min" "$max"
    elif [ "$min $max" != "500 2100" ] && [ "$level" != manual ] && [ "$level" != perf_determinism ]; then
        show_limits "$1" 500 2100
    fi
}

# The driver: does nothing while $ROOT/stuck exists.
amdgpu_start() {
    (
        while [ -d "$ROOT" ]; do
            if [ ! -e "$ROOT/stuck" ]; then
                for device in "$ROOT"/sys/class/drm/card*/device; do drive "$device"; done
            fi
            sleep 0.02
        done
    ) >/dev/null 2>&1 &
    DRIVER=$!
}

amdgpu_stop() {
    kill "$DRIVER" 2>/dev/null
    wait "$DRIVER" 2>/dev/null
}

# state [DEVICE]: "LEVEL MIN MAX"
state() {
    local device=${1:-$CARD}
    printf '%s %s\n' "$(head -n 1 "$device/power_dpm_force_performance_level")" \
        "$(sed -n '/OD_SCLK/,/OD_MCLK/s/^[01]: \([0-9]*\)Mhz/\1/p' "$device/pp_od_clk_voltage" | xargs)"
}

# set_state LEVEL MIN MAX: as an administrator
set_state() {
    echo "$1" >"$CARD/power_dpm_force_performance_level"
    show_limits "$CARD" "$2" "$3"
}
