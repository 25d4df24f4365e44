#include "executor/telemetry/nvml.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef NVML_HELPER
#define NVML_HELPER "executor/telemetry/nvml_helper/helper" /* the Makefile passes where it was built */
#endif

enum { START_LIMIT_MS = 3000, COPY_TRIES = 100, HIGH_FD = 64 };

__asm__(".pushsection .rodata\n"
        ".global nvml_helper_begin\n.global nvml_helper_end\n"
        "nvml_helper_begin: .incbin \"" NVML_HELPER "\"\n"
        "nvml_helper_end: .byte 0\n"
        ".popsection\n");
extern const char nvml_helper_begin[], nvml_helper_end[];

static bool has_driver(const struct layout *l)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, l->proc, "driver/nvidia/version") == 0 && fs_exists(path);
}

int nvml_program(void)
{
    int fd = memfd_create("kernsweep-nvml", MFD_CLOEXEC);
    size_t size = (size_t)(nvml_helper_end - nvml_helper_begin);
    if (fd >= 0 && fs_write_all(fd, nvml_helper_begin, size) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Moves the descriptors above the numbers that they are to get, so that none overwrites another. */
static _Noreturn void exec_helper(int program, int ask, int page, int done)
{
    char name[] = "kernsweep-nvml";
    char *argv[] = {name, NULL};
    int null = open("/dev/null", O_WRONLY);
    int fds[] = {ask, page, done, program};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, HIGH_FD);
    setsid();
    if (dup2(fds[0], 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || dup2(fds[1], NVML_FD_PAGE) < 0 ||
        dup2(fds[2], NVML_FD_DONE) < 0 || chdir("/") != 0)
        _exit(1);
    fexecve(fds[3], argv, environ);
    _exit(1);
}

/* Through an intermediate child that exits at once, so that init inherits the helper. */
static int start_helper(int program, int ask, int page, int done)
{
    int status;
    pid_t middle = fork();
    if (middle == 0) {
        pid_t last = fork();
        if (last == 0)
            exec_helper(program, ask, page, done);
        _exit(last < 0);
    }
    while (middle > 0 && waitpid(middle, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return middle > 0 && status == 0 ? 0 : -1;
}

static int open_channel(struct nvml *n)
{
    int ask[2] = {-1, -1}, rc = -1;
    int program = nvml_program(), page = memfd_create("kernsweep-nvml-page", MFD_CLOEXEC);
    n->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (program >= 0 && page >= 0 && n->done >= 0 && ftruncate(page, sizeof *n->page) == 0 &&
        pipe2(ask, O_CLOEXEC) == 0) {
        void *p = mmap(NULL, sizeof *n->page, PROT_READ, MAP_SHARED, page, 0);
        n->page = p == MAP_FAILED ? NULL : p;
        n->ask = ask[1];
        fcntl(n->ask, F_SETFL, O_NONBLOCK);
        rc = n->page ? start_helper(program, ask[0], page, n->done) : -1;
    }
    const int spent[] = {program, page, ask[0]};
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++) {
        if (spent[i] >= 0)
            close(spent[i]);
    }
    return rc;
}

void nvml_open(struct nvml *n, const struct layout *l)
{
    struct nvml_facts first;
    *n = (struct nvml){.ask = -1, .done = -1};
    if (has_driver(l) && (open_channel(n) != 0 || !nvml_fresh(n, START_LIMIT_MS, &first)))
        nvml_close(n);
}

void nvml_close(struct nvml *n)
{
    if (n->ask >= 0)
        close(n->ask); /* ends the helper */
    if (n->done >= 0)
        close(n->done);
    if (n->page)
        munmap(n->page, sizeof *n->page);
    *n = (struct nvml){.ask = -1, .done = -1};
}

static bool copy_page(const struct nvml *n, struct nvml_facts *out)
{
    for (int i = 0; i < COPY_TRIES; i++) {
        uint32_t before = atomic_load(&n->page->turn);
        memcpy(out, &n->page->facts, sizeof *out);
        if (before > 0 && before % 2 == 0 && atomic_load(&n->page->turn) == before)
            return out->gpu_count > 0 && out->gpu_count <= NVML_GPUS_MAX && out->process_count >= 0 &&
                   out->process_count <= NVML_PROCESSES_MAX;
    }
    return false;
}

/* False when the helper is gone. The supervisor ignores SIGPIPE. */
static bool request_sample(const struct nvml *n, char what)
{
    return n->ask >= 0 && (write(n->ask, &what, 1) == 1 || errno == EAGAIN);
}

bool nvml_peek(const struct nvml *n, struct nvml_facts *out)
{
    return n->page && copy_page(n, out);
}

bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out)
{
    struct pollfd p = {.fd = n->done, .events = POLLIN};
    int64_t until_ns = clock_deadline_ns(timeout_ms * 1e-3);
    uint64_t count, before = nvml_peek(n, out) ? out->full_samples : 0;
    if (!request_sample(n, NVML_ASK_ALL))
        return false;
    while (!copy_page(n, out) || out->full_samples == before) { /* an earlier request may be answered first */
        int64_t left_ns = until_ns - clock_mono_ns();
        if (left_ns <= 0 || poll(&p, 1, (int)(left_ns / 1000000) + 1) <= 0)
            return false;
        (void)!read(n->done, &count, sizeof count);
    }
    return true;
}

bool nvml_latest(struct nvml *n, const void *asker, struct nvml_facts *out)
{
    int64_t now = clock_mono_ns();
    if (asker != n->asker && now - n->asked_ns < n->spacing_ns)
        return nvml_peek(n, out);
    n->asker = asker;
    n->asked_ns = now;
    return request_sample(n, NVML_ASK) && copy_page(n, out);
}
