# shellcheck shell=bash disable=SC2034,SC2016 # variables are shared with the scripts; programs are written here
# tests/gpus.sh: a node with several GPUs, as a tree of files (amdgpu's sysfs) or through the NVML stand-in, and a program
# that uses the GPUs that its environment shows it: only their memory use rises. Source it after tests/lib.sh and
# tests/tree.sh.

GPU_MIB=1048576

# amd_gpus ROOT [COUNT]: MI300X GPUs 0..COUNT-1, half of them near each of two NUMA nodes; sets USE_GPU
amd_gpus() {
    local i cards
    GPUS_ROOT=$1 GPUS_COUNT=${2:-8} GPUS_VENDOR=amd
    mkdir -p "$1"
    grep -v -e 'drm/card' -e 'kfd/topology' tests/fixtures/mi300x/well_tuned >"$1.files"
    cards=$(grep 'drm/card1/' tests/fixtures/mi300x/well_tuned)
    for ((i = 0; i < GPUS_COUNT; i++)); do
        sed -e "s,drm/card1/,drm/card$i/,; s,hwmon/hwmon1,hwmon/hwmon$i," \
            -e "s,unique_id = .*,unique_id = $(gpu_id "$i"),; s,PCI_SLOT_NAME=.*,PCI_SLOT_NAME=$(gpu_pci "$i")," \
            -e "s,numa_node = .*,numa_node = $((i * 2 / GPUS_COUNT))," <<<"$cards"
        printf 'sys/bus/pci/devices/%s/local_cpulist = %d\n' "$(gpu_pci "$i")" $((i * 2 / GPUS_COUNT))
        printf 'sys/bus/pci/devices/%s/numa_node = 0\n' "$(gpu_pci "$i")"
        printf 'sys/class/kfd/kfd/topology/nodes/%d/properties = gfx_target_version 90402\\nlocation_id %u\\ndomain 0\\nunique_id %u\n' \
            $((i + 2)) $(((0x11 + 0x10 * i) << 8)) "0x$(kfd_id "$i")"
        printf 'sys/class/kfd/kfd/topology/nodes/%d/gpu_id = %d\n' $((i + 2)) $((1000 + i))
    done >>"$1.files"
    lay_tree "$1" "$1.files"
    mkdir -p "$1/sys/class/kfd/kfd/proc"
    for ((i = 0; i < GPUS_COUNT; i++)); do gpu_memory "$i" 300; done
    export KERNSWEEP_FAKE_ROOT=$1
    write_use_gpu
}

# nvidia_gpus ROOT [COUNT]: the same with the stand-in of NVIDIA's library; fails without a compiler
nvidia_gpus() {
    local i
    GPUS_ROOT=$1 GPUS_COUNT=${2:-8} GPUS_VENDOR=nvidia
    mkdir -p "$1/proc/driver/nvidia" "$1/sys"
    echo "NVRM version: some" >"$1/proc/driver/nvidia/version"
    export FAKE_NVML=$1/gpu KERNSWEEP_NVML_LIBRARY=$1/libfake.so KERNSWEEP_FAKE_ROOT=$1
    "${CC:-cc}" -shared -fPIC -o "$KERNSWEEP_NVML_LIBRARY" tests/fixtures/nvml/fake_nvml.c || return 1
    echo "$GPUS_COUNT" >"$FAKE_NVML.count"
    for ((i = 0; i < GPUS_COUNT; i++)); do gpu_memory "$i" 300; done
    write_use_gpu
}

# gpu_id INDEX: its unique id
gpu_id() {
    if [ "$GPUS_VENDOR" = amd ]; then printf '1d0fbe6a2a1c%04x\n' $((0xa0 + $1)); else echo "GPU-fake-$1"; fi
}

# kfd_id INDEX: by which ROCm knows it; drivers of today have another than the card's
kfd_id() {
    printf '2e0fbe6a2a1c%04x\n' $((0xa0 + $1))
}

# gpu_word INDEX: as the environment of a test names it
gpu_word() {
    if [ "$GPUS_VENDOR" = amd ]; then echo "GPU-$(kfd_id "$1")"; else gpu_id "$1"; fi
}

gpu_pci() {
    printf '0000:%02x:00.0\n' $((0x11 + 0x10 * $1))
}

# gpu_file INDEX: the file from which its memory use is read
gpu_file() {
    if [ "$GPUS_VENDOR" = amd ]; then
        echo "$GPUS_ROOT/sys/class/drm/card$1/device/mem_info_vram_used"
    elif [ "$1" = 0 ]; then
        echo "$FAKE_NVML"
    else
        echo "$FAKE_NVML.$1"
    fi
}

# gpu_memory INDEX MIB [KEY NUMBER...]: written at once, since the executor may read at any moment; the keys are the
# stand-in's
gpu_memory() {
    write_memory "$(gpu_file "$1")" "${@:2}"
}

# write_memory FILE MIB [KEY NUMBER...]
write_memory() {
    if [ "$GPUS_VENDOR" = amd ]; then
        printf '%d\n' $(($2 * GPU_MIB)) 3<>"$1" >&3 # declare -f would lose 1<>
    else
        printf '%d 0 %s\n' $(($2 * GPU_MIB)) "${*:3}" >"$1.new"
        mv "$1.new" "$1"
    fi
}

# gpu_lost INDEX: makes it fall off the bus
gpu_lost() {
    if [ "$GPUS_VENDOR" = amd ]; then rm -f "$(gpu_file "$1")"; else gpu_memory "$1" 0 lost 1; fi
}

# Writes the program: use-gpu SECONDS [MIB [KEPT_MIB]]: uses MIB (1000) more of each GPU that it sees, leaves KEPT_MIB in use,
# and prints its timings. It adds a line to $GPUS_ROOT/used: "START END WORDS NAME", with the GPUs that it saw and $USE_NAME.
# With $USE_TOGETHER, it does not end before so many of them have begun.
write_use_gpu() {
    local i words=() files=()
    USE_GPU=$GPUS_ROOT/use-gpu
    {
        printf '#!%s\n' "$BASH"
        for ((i = 0; i < GPUS_COUNT; i++)); do
            words+=("$(gpu_word "$i")")
            files+=("$(gpu_file "$i")")
        done
        declare -p GPUS_ROOT GPUS_VENDOR GPU_MIB words files
        declare -f write_memory
        cat <<'PROGRAM'
seen=${ROCR_VISIBLE_DEVICES-${CUDA_VISIBLE_DEVICES-all}}
began=$EPOCHREALTIME
each() { # MIB: of every GPU that is seen
    local i
    for i in "${!words[@]}"; do
        case ,$seen, in *,"${words[i]}",* | ,all,) write_memory "${files[i]}" "$1" ;; esac
    done
}
each $((300 + ${2:-1000}))
echo >>"$GPUS_ROOT/began"
sleep "$1"
until [ "$(wc -l <"$GPUS_ROOT/began")" -ge "${USE_TOGETHER:-1}" ]; do sleep 0.1; done
each $((300 + ${3:-0}))
echo "$began $EPOCHREALTIME $seen ${USE_NAME:-}" >>"$GPUS_ROOT/used"
echo '[PERF_TIMING] {"prefill_s": 0.05}'
PROGRAM
    } >"$USE_GPU"
    chmod +x "$USE_GPU"
}
