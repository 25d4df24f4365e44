# shellcheck shell=bash disable=SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/terminal.sh: a screen in tmux. Source it after tests/lib.sh; a script ends its server by `tm kill-server`.

# A server of its own, that ends with its sessions. UTF-8, and a terminal type that every Debian has.
tm() {
    TMUX='' tmux -L "ks-$$" -f /dev/null "$@"
}
screen() { tm capture-pane -p -t w; }
shows() { screen | grep -Eq -- "$1"; }
# sees NAME PATTERN: soon.
sees() {
    until_true 40 shows "$2"
    ok "$1" $? "the screen does not show: $2"$'\n'"$(screen)"
}

# terminal WIDTHxHEIGHT COMMAND: a shell's command in a terminal of that size; then "ended", and its exit status
terminal() {
    tm new-session -d -s w -x "${1%x*}" -y "${1#*x}" "trap : INT; $2; echo ended \$?; exec cat"
}
