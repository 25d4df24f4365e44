# shellcheck shell=sh disable=SC2034,SC3003,SC3040 # read by workload.sh; perl does what sh cannot
# misdeeds.sh: what a test of `make soak` does beside its work, in the folder of its results.
odd_names() {
    perl -e 'for ("new\nline", "bad\377", "\e[31mred", "sp ace", "-rf", "quote\x27\"", "x" x 255, "\xc3\xa9", "a\\b", "tab\t") {
        open my $f, ">", $_ or next; print $f "x"; close $f } mkdir "dir\n\xff"; open my $f, ">", "dir\n\xff/in\xfe"; print $f "y"'
}
many_files() { perl -e 'for (1 .. 4000) { open my $f, ">", "file.$_" or die; print $f $_ }'; }
deep() { perl -e 'for (1 .. 100) { mkdir "d" or die; chdir "d" } open my $f, ">", "bottom"; print $f "x"'; }
special() {
    perl -e 'use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("socket"))'
    mkfifo fifo
    ln -s loop1 loop2
    ln -s loop2 loop1
    ln -s / root
    ln -s ../../../../.. up
    echo x >hard && ln hard hard2 && ln hard hard3
}
sparse() { perl -e 'open my $f, ">", "sparse" or die; truncate $f, 10_000_000_000 or die'; }
unreadable() {
    mkdir closed && echo x >closed/in && echo y >shut
    chmod 000 closed shut
}
# Goes on after the test, unseen: in a session of its own, until the night is packed.
restless() {
    perl -e 'exit if fork; use POSIX; setsid(); exit if fork; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
        my $end = time + 2; my $n = 0;
        while (time < $end) { $n++; open my $f, ">>", "grows"; print $f "x" x 5000; open my $g, ">", "gone.$n"; print $g "y"; close $g;
            unlink "gone." . ($n - 3); select undef, undef, undef, 0.001 }'
}
kill_uid() { perl -e 'kill 9, -1'; }
fork_bomb() { perl -e 'for (1 .. 200) { my $p = fork; next if $p; fork for 1 .. 1; sleep 30; exit }'; }
neighbours() {
    for file in ../../*/ctx_*/perf.json; do
        [ ! -f "$file" ] || { chmod u+w "$file" && sed -i 's/0\.[0-9]*/0.001/g' "$file"; }
    done
}
own_build() {
    for file in "$0" "$(dirname "$0")/../"*/prog "$SOAK"/disk/work/src/*/workload.sh; do
        { chmod u+w "$(dirname "$file")" "$file" && sed 's/tenths=[67]/tenths=1/' "$file" >"$file.new" && mv "$file.new" "$file"; } 2>/dev/null
    done
    chmod +x "$0" "$(dirname "$0")/../"*/prog 2>/dev/null
}
flood() { perl -e 'my $l = ("x" x 99) . "\n"; print $l for 1 .. 1_000_000'; }
secrets() {
    env >env.txt
    printf '%s\n' "$TOKEN" >"plain"
    perl -e 'open my $f, ">", "named-$ENV{TOKEN}"; print $f "x"; mkdir "dir-$ENV{TOKEN}"'
    printf 'token: %s\n' "$TOKEN"
    printf '%s\n' "$TOKEN" >&2
    perl -e 'print "x" x 8180, $ENV{TOKEN}, "\n"; $| = 1; print substr $ENV{TOKEN}, 0, 5; select undef, undef, undef, 0.1; print substr($ENV{TOKEN}, 5), "\n"'
    extra=$(perl -e '$t = $ENV{TOKEN}; $t =~ s/(["\\])/\\$1/g; print ", \"$t\": 1, \"note\": \"$t\""')
}
stubborn() { perl -e '$SIG{TERM} = "IGNORE"; $SIG{HUP} = "IGNORE"; sleep 1 while 1'; }
daemons() { perl -e 'use POSIX; for (1 .. 5) { next if fork; setsid(); exit if fork; $SIG{TERM} = "IGNORE"; close $_ for *STDIN, *STDOUT, *STDERR; sleep 60; exit }'; }
