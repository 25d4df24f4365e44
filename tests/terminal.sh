# shellcheck shell=bash disable=SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/terminal.sh: a screen in tmux. Source it after tests/lib.sh; a script ends the server by `tm kill-server`.

# Uses a private server, which ends with its sessions, UTF-8, and a terminal type that every Debian has.
tm() {
    TMUX='' tmux -L "ks-$$" -f /dev/null "$@"
}
screen() { tm capture-pane -p -t w; }
shows() { screen | grep -Eq -- "$1"; }
# sees NAME PATTERN: waits until the screen shows it.
sees() {
    until_true 40 shows "$2"
    ok "$1" $? "the screen does not show: $2"$'\n'"$(screen)"
}

# terminal WIDTHxHEIGHT COMMAND: runs a shell command in a terminal of that size, which then shows "ended" and the exit status
terminal() {
    tm new-session -d -s w -x "${1%x*}" -y "${1#*x}" "trap : INT; $2; echo ended \$?; exec cat"
}
