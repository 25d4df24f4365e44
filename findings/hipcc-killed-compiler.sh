#!/bin/sh
# hipcc 7.0.2+dfsg-3 (Debian 14, forky; ROCm's hipcc has been this program since it is no longer a Perl script), seen on 2026-11-29.
#
# hipcc starts the compiler through the system's sh and takes the exit status out of what it gets, without asking whether there is one.
# Where sh is dash, a compiler that is killed, as by the kernel for want of memory, is 137 by way of the shell. Where sh is bash, as on
# RHEL and SLES, the shell has become the compiler, and hipcc ends with 0: a build goes on without the object.
#
# Guessed: that a compiler driver whose compiler died of a signal ends with something other than 0 everywhere.
#
# The compiler is a stand-in that kills itself. Needs root and debootstrap.
set -eu
version=7.0.2+dfsg-3
tmp=$(mktemp -d)
root=$tmp/root
end() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$tmp"
}
trap end EXIT
debootstrap --variant=minbase forky "$root" http://deb.debian.org/debian /usr/share/debootstrap/scripts/sid >"$tmp/log" 2>&1 || {
    tail -n 3 "$tmp/log"
    exit 1
}
mount --bind /proc "$root/proc"
# Only hipcc itself, without the compilers that it depends on.
# shellcheck disable=SC2016 # expanded by the shell inside
chroot "$root" sh -c 'cd /tmp && apt-get download -q "hipcc=$1" && dpkg --force-depends -i hipcc_*.deb' sh "$version" >"$tmp/log" 2>&1 || {
    tail -n 3 "$tmp/log"
    exit 1
}
mkdir "$root/work"
cat >"$root/work/clang++" <<'COMPILER'
#!/bin/sh
kill -KILL $$
COMPILER
chmod +x "$root/work/clang++"
echo '__attribute__((global)) void nothing() {}' >"$root/work/k.hip"

# status_with SHELL: what hipcc ends with if that is the system's sh
status_with() {
    ln -sf "$1" "$root/usr/bin/sh"
    status=0
    chroot "$root" env -C /work HIP_PLATFORM=amd HIP_CLANG_PATH=/work hipcc --offload-arch=gfx942 -c k.hip -o k.o >/dev/null 2>&1 || status=$?
    [ ! -e "$root/work/k.o" ] || status="$status, with an object"
    echo "$status"
}
seen="dash $(status_with dash), bash $(status_with bash)"
echo "hipcc $version without an object: $seen"
[ "$seen" = "dash 137, bash 0" ]
