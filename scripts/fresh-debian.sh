# shellcheck shell=bash
# fresh-debian.sh: minimal Debian systems, installed by debootstrap, to try in what a user would. Source it. The script that
# sources it defines die(). Needs root and the network.

cache=${KERNSWEEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernsweep}
mirror=http://deb.debian.org/debian

# debian_options ARGUMENT...: reads [--cache DIR] [--mirror URL] [SUITE]... into cache, mirror and suites
debian_options() {
    suites=()
    while [ $# -gt 0 ]; do
        case $1 in
        --cache) cache=${2:?--cache needs a folder} && shift ;;
        --mirror) mirror=${2:?--mirror needs an address} && shift ;;
        bookworm | trixie | forky) suites+=("$1") ;;
        *) die "usage: ${0##*/} [--cache DIR] [--mirror URL] [bookworm|trixie|forky]..." ;;
        esac
        shift
    done
    [ "${#suites[@]}" -gt 0 ] || suites=(bookworm trixie forky)
    [ "$(id -u)" = 0 ] || die "needs root, for debootstrap, mount and chroot: run it with sudo"
    command -v debootstrap >/dev/null || die "debootstrap is missing: scripts/install-deps package"
    unshare --mount true 2>/dev/null || die "cannot create a mount namespace: a container needs CAP_SYS_ADMIN for this"
}

# debian_root SUITE ROOT: makes a copy of a fresh system, which is installed once and kept in the cache
debian_root() {
    local base=$cache/debian/$1 script=/usr/share/debootstrap/scripts/$1
    [ -e "$script" ] || script=${script%/*}/sid # a suite that is newer than this debootstrap
    mkdir -p "$cache/debian"
    if [ ! -d "$base" ]; then
        rm -rf --one-file-system "$base.part"
        debootstrap --variant=minbase "$1" "$base.part" "$mirror" "$script" >"$base.log" 2>&1 ||
            die "debootstrap of $1 failed: $(tail -n 1 "$base.log")"
        mv "$base.part" "$base"
    fi
    rm -rf --one-file-system "$2"
    cp -a "$base" "$2"
    cp /etc/resolv.conf "$2/etc/resolv.conf"
    echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/fast" # nobody needs it after a power cut
    echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/fresh" # a mirror of testing may be days behind
}

# inside ROOT COMMAND...: runs it in that system. It inherits nothing, and its mounts end with it.
inside() {
    local root=$1
    shift
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --propagation private sh -eu -c '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
            DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' inside "$root" "$@"
}
