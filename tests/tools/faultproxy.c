/* faultproxy: a TCP proxy that simulates a bad connection, for the fault tests and the benchmarks.
 *
 *   faultproxy --to HOST:PORT|--exec COMMAND --port-file FILE [--listen PORT] [--rtt MS] [--rate BYTES_PER_S]
 *              [--stall-every S --stall-for S] [--cut-after BYTES] [--garbage-after BYTES] [--control FIFO]
 *
 * --exec: each connection is served by a new process of this shell command, through its standard input and
 * output. Once the proxy listens on 127.0.0.1, it writes the port to FILE. Each byte arrives half a round
 * trip after it was sent, and no faster than the rate. --stall-*: periodically, nothing is forwarded.
 * --cut-after and
 * --garbage-after count the bytes from the server on one connection, and act once. Commands on the FIFO act
 * immediately: `freeze` (forward nothing, keep connections, do not answer new ones), `thaw`, `cut` (reset
 * every connection), `garbage` (change one of the next bytes), `down` (cut, and refuse new connections),
 * `up`, `quit`.
 */
#include "common/base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 64, PIECE = 64 << 10, IN_FLIGHT_MAX = 32 << 20 };

static const int64_t ns_per_ms = 1000000;

struct piece {
    struct piece *next;
    int64_t due_ns;
    size_t len, off;
    char data[];
};

/* One direction of a connection. */
struct flow {
    int from, to;
    struct piece *first, *last;
    size_t queued;
    int64_t sent_ns; /* when the line is free again */
    bool eof, closed;
};

struct link {
    bool used;
    int client, server;
    struct flow up, down; /* to the server, to the client */
    uint64_t from_server;
};

struct proxy {
    struct sockaddr_in to;
    const char *command;
    int listener, control;
    int port;
    const char *port_file;
    int64_t delay_ns;
    double rate;
    int64_t stall_every_ns, stall_for_ns, started_ns;
    uint64_t cut_after, garbage_after;
    bool frozen, garbage, quit;
    struct link links[LINKS_MAX];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static bool stalled(const struct proxy *p)
{
    if (p->frozen)
        return true;
    if (p->stall_every_ns == 0)
        return false;
    int64_t phase = (clock_mono_ns() - p->started_ns) % (p->stall_every_ns + p->stall_for_ns);
    return phase >= p->stall_every_ns;
}

static void flow_clear(struct flow *f)
{
    while (f->first) {
        struct piece *next = f->first->next;
        free(f->first);
        f->first = next;
    }
    *f = (struct flow){.from = -1, .to = -1};
}

/* reset: the peers see RST instead of an orderly shutdown. */
static void link_close(struct link *l, bool reset)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    const int fds[] = {l->client, l->server};
    for (size_t i = 0; i < 2; i++) {
        if (reset)
            setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fds[i]);
    }
    flow_clear(&l->up);
    flow_clear(&l->down);
    l->used = false;
}

static void cut_all(struct proxy *p)
{
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (p->links[i].used)
            link_close(&p->links[i], true);
    }
}

static void start_listening(struct proxy *p)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
    const int one = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(p->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(p->listener, 64) < 0)
        die("listen");
    socklen_t len = sizeof at;
    getsockname(p->listener, (struct sockaddr *)&at, &len);
    p->port = ntohs(at.sin_port);
}

static void obey(struct proxy *p, const char *word)
{
    if (strcmp(word, "freeze") == 0)
        p->frozen = true;
    else if (strcmp(word, "thaw") == 0)
        p->frozen = false;
    else if (strcmp(word, "garbage") == 0)
        p->garbage = true;
    else if (strcmp(word, "cut") == 0 || strcmp(word, "down") == 0)
        cut_all(p);
    else if (strcmp(word, "up") == 0 && p->listener < 0)
        start_listening(p);
    else if (strcmp(word, "quit") == 0)
        p->quit = true;
    if (strcmp(word, "down") == 0 && p->listener >= 0) {
        close(p->listener);
        p->listener = -1;
    }
}

static void read_control(struct proxy *p)
{
    char text[256];
    ssize_t n = read(p->control, text, sizeof text - 1);
    if (n <= 0)
        return;
    text[n] = '\0';
    char *save = text;
    for (char *word; (word = strsep(&save, " \n"));)
        obey(p, word);
}

static int run_server(const char *command)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a silent server would outlive a proxy that is killed */
        dup2(pair[1], 0);
        dup2(pair[1], 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    return pair[0];
}

/* The server is on this machine: connecting to it does not block for long. */
static int reach_server(const struct proxy *p)
{
    if (p->command)
        return run_server(p->command);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&p->to, sizeof p->to) == 0)
        return fd;
    close(fd);
    return -1;
}

static void accept_one(struct proxy *p)
{
    const int one = 1;
    int client = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0)
        return;
    struct link *l = p->links;
    while (l < p->links + LINKS_MAX && l->used)
        l++;
    int server = l < p->links + LINKS_MAX ? reach_server(p) : -1;
    if (server < 0) {
        close(client);
        return;
    }
    fcntl(server, F_SETFL, O_NONBLOCK);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    *l = (struct link){.used = true, .client = client, .server = server};
    l->up = (struct flow){.from = client, .to = server};
    l->down = (struct flow){.from = server, .to = client};
}

/* Reads available bytes and queues them. False if the connection broke. */
static bool take(const struct proxy *p, struct flow *f, uint64_t *count)
{
    char data[PIECE];
    ssize_t n = recv(f->from, data, sizeof data, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
        f->eof = true;
        return true;
    }
    struct piece *piece = malloc(sizeof *piece + (size_t)n);
    if (!piece)
        die("malloc");
    int64_t now = clock_mono_ns();
    if (f->sent_ns < now)
        f->sent_ns = now;
    if (p->rate > 0)
        f->sent_ns += (int64_t)((double)n / p->rate * 1e9);
    piece->next = NULL;
    piece->due_ns = f->sent_ns + p->delay_ns;
    piece->len = (size_t)n;
    piece->off = 0;
    memcpy(piece->data, data, (size_t)n);
    if (f->last && f->first)
        f->last->next = piece;
    else
        f->first = piece;
    f->last = piece;
    f->queued += (size_t)n;
    *count += (uint64_t)n;
    return true;
}

/* Forwards the bytes that are due. False if the connection broke. */
static bool give(struct proxy *p, struct flow *f)
{
    int64_t now = clock_mono_ns();
    while (f->first && f->first->due_ns <= now) {
        struct piece *piece = f->first;
        if (p->garbage) {
            piece->data[piece->off] ^= 0x55;
            p->garbage = false;
        }
        ssize_t n = send(f->to, piece->data + piece->off, piece->len - piece->off, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        piece->off += (size_t)n;
        f->queued -= (size_t)n;
        if (piece->off < piece->len)
            return true;
        f->first = piece->next;
        free(piece);
    }
    if (f->eof && !f->first && !f->closed) {
        shutdown(f->to, SHUT_WR);
        f->closed = true;
    }
    return true;
}

static bool can_take(const struct flow *f)
{
    return !f->eof && f->queued < IN_FLIGHT_MAX;
}

static void act_on_count(struct proxy *p, struct link *l)
{
    if (p->garbage_after && l->from_server >= p->garbage_after) {
        p->garbage_after = 0;
        p->garbage = true;
    }
    if (p->cut_after && l->from_server >= p->cut_after) {
        p->cut_after = 0;
        link_close(l, true);
    }
}

static void serve(struct proxy *p, struct link *l, const struct pollfd *client, const struct pollfd *server)
{
    uint64_t ignored = 0;
    bool alive = true;
    if (client->revents && can_take(&l->up))
        alive = take(p, &l->up, &ignored);
    if (alive && server->revents && can_take(&l->down))
        alive = take(p, &l->down, &l->from_server);
    alive = alive && give(p, &l->up) && give(p, &l->down);
    if (!alive || (l->up.closed && l->down.closed))
        link_close(l, !alive);
    else
        act_on_count(p, l);
}

/* Time until the next event that no descriptor reports. */
static struct timespec until_due(const struct proxy *p)
{
    int64_t now = clock_mono_ns(), wait = 100 * ns_per_ms;
    if (p->stall_every_ns)
        wait = 5 * ns_per_ms;
    for (size_t i = 0; i < LINKS_MAX && !stalled(p); i++) {
        const struct link *l = &p->links[i];
        const struct piece *heads[] = {l->used ? l->up.first : NULL, l->used ? l->down.first : NULL};
        for (size_t k = 0; k < 2; k++) {
            if (heads[k] && heads[k]->due_ns - now < wait)
                wait = heads[k]->due_ns - now;
        }
    }
    if (wait < 0)
        wait = 0;
    return (struct timespec){.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
}

static short wanted(const struct flow *in, const struct flow *out, int64_t now)
{
    short events = can_take(in) ? POLLIN : 0;
    if (out->first && out->first->due_ns <= now)
        events |= POLLOUT;
    return events;
}

static void turn(struct proxy *p)
{
    struct pollfd fds[2 + 2 * LINKS_MAX];
    bool hold = stalled(p);
    int64_t now = clock_mono_ns();
    fds[0] = (struct pollfd){.fd = hold ? -1 : p->listener, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = p->control, .events = POLLIN};
    for (size_t i = 0; i < LINKS_MAX; i++) {
        const struct link *l = &p->links[i];
        bool on = l->used && !hold;
        short client = 0, server = 0;
        if (on) {
            client = wanted(&l->up, &l->down, now);
            server = wanted(&l->down, &l->up, now);
        }
        fds[2 + 2 * i] = (struct pollfd){.fd = client ? l->client : -1, .events = client};
        fds[3 + 2 * i] = (struct pollfd){.fd = server ? l->server : -1, .events = server};
    }
    struct timespec wait = until_due(p);
    if (ppoll(fds, sizeof fds / sizeof *fds, &wait, NULL) < 0 && errno != EINTR)
        die("poll");
    if (fds[1].revents)
        read_control(p);
    if (hold || stalled(p))
        return;
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (p->links[i].used)
            serve(p, &p->links[i], &fds[2 + 2 * i], &fds[3 + 2 * i]);
    }
    if (fds[0].revents && p->listener >= 0)
        accept_one(p);
}

static int take_option(struct proxy *p, const char *name, const char *value)
{
    double number = strtod(value, NULL);
    if (strcmp(name, "--to") == 0) {
        char host[64];
        const char *colon = strrchr(value, ':');
        if (!colon || (size_t)(colon - value) >= sizeof host)
            return -1;
        snprintf(host, sizeof host, "%.*s", (int)(colon - value), value);
        p->to.sin_family = AF_INET;
        p->to.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
        return inet_pton(AF_INET, host, &p->to.sin_addr) == 1 ? 0 : -1;
    }
    if (strcmp(name, "--exec") == 0)
        p->command = value;
    else if (strcmp(name, "--port-file") == 0)
        p->port_file = value;
    else if (strcmp(name, "--listen") == 0)
        p->port = (int)number;
    else if (strcmp(name, "--rtt") == 0)
        p->delay_ns = (int64_t)(number / 2 * (double)ns_per_ms);
    else if (strcmp(name, "--rate") == 0)
        p->rate = number;
    else if (strcmp(name, "--stall-every") == 0)
        p->stall_every_ns = (int64_t)(number * 1e9);
    else if (strcmp(name, "--stall-for") == 0)
        p->stall_for_ns = (int64_t)(number * 1e9);
    else if (strcmp(name, "--cut-after") == 0)
        p->cut_after = (uint64_t)number;
    else if (strcmp(name, "--garbage-after") == 0)
        p->garbage_after = (uint64_t)number;
    else if (strcmp(name, "--control") == 0)
        p->control = open(value, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    else
        return -1;
    return 0;
}

static void tell_port(const struct proxy *p)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.tmp", p->port_file);
    FILE *f = fopen(name, "we");
    if (!f || fprintf(f, "%d\n", p->port) < 0 || fclose(f) != 0 || rename(name, p->port_file) != 0)
        die(p->port_file);
}

int main(int argc, char **argv)
{
    static struct proxy p = {.listener = -1, .control = -1};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 >= argc || take_option(&p, argv[i], argv[i + 1])) {
            fprintf(stderr, "faultproxy: bad option %s\n", argv[i]);
            return 2;
        }
    }
    if ((p.to.sin_port == 0 && !p.command) || !p.port_file)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    p.started_ns = clock_mono_ns();
    start_listening(&p);
    tell_port(&p);
    while (!p.quit)
        turn(&p);
    cut_all(&p);
    return 0;
}
