#include "executor/telemetry/nvml.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef NVML_HELPER
#define NVML_HELPER "executor/telemetry/nvml_helper/helper" /* the Makefile passes where it was built */
#endif

enum { START_LIMIT_MS = 3000, COPY_TRIES = 100, HIGH_FD = 64, WORDS_MAX = 5 };

static const double command_limit_s = 15;

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

/* Returns a descriptor of the helper's program, in memory, which the caller closes; -1 with errno set. */
static int helper_program(void)
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

/* The helper is started through an intermediate child that exits at once, so that init inherits it. */
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
    int program = helper_program(), page = memfd_create("kernsweep-nvml-page", MFD_CLOEXEC);
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

pid_t nvml_helper_pid(const struct nvml *n)
{
    return n->page && atomic_load(&n->page->gpu_count) > 0 ? n->page->pid : 0;
}

static bool copy_slot(const struct nvml_slot *slot, struct nvml_sample *out)
{
    for (int i = 0; i < COPY_TRIES; i++) {
        uint32_t before = atomic_load(&slot->turn);
        memcpy(out, &slot->sample, sizeof *out);
        if (before % 2 == 0 && atomic_load(&slot->turn) == before)
            return out->process_count >= 0 && out->process_count <= NVML_PROCESSES_MAX &&
                   out->power_count >= 0 && out->power_count <= NVML_POWERS_MAX;
    }
    return false;
}

static void add_gpu(struct nvml_facts *out, int32_t index, const struct nvml_sample *sample)
{
    out->gpu[index] = sample->gpu;
    out->cpu_s = sample->cpu_s > out->cpu_s ? sample->cpu_s : out->cpu_s;
    for (int32_t p = 0; p < sample->process_count; p++)
        out->process[out->process_count++] = (struct nvml_user){
            .pid = sample->process[p].pid, .gpu = index, .used_bytes = sample->process[p].used_bytes};
}

static bool copy_page(const struct nvml *n, struct nvml_facts *out)
{
    struct nvml_sample sample;
    out->gpu_count = atomic_load(&n->page->gpu_count);
    out->process_count = 0;
    out->cpu_s = 0;
    if (out->gpu_count <= 0 || out->gpu_count > NVML_GPUS_MAX)
        return false;
    snprintf(out->driver, sizeof out->driver, "%.*s", NVML_TEXT_MAX - 1, n->page->driver);
    for (int32_t i = 0; i < out->gpu_count; i++) {
        if (!copy_slot(&n->page->slot[i], &sample))
            return false;
        add_gpu(out, i, &sample);
    }
    return true;
}

/* Returns false when the helper is gone. The supervisor ignores SIGPIPE. */
static bool request_samples(struct nvml *n, const unsigned char *what, size_t count)
{
    ssize_t wrote = n->ask >= 0 ? write(n->ask, what, count) : -1;
    n->sent += wrote > 0 ? (uint64_t)wrote : 0;
    return n->ask >= 0 && (wrote == (ssize_t)count || errno == EAGAIN);
}

uint64_t nvml_ask(struct nvml *n, const int32_t *gpus, size_t count)
{
    unsigned char what[NVML_GPUS_MAX] = {NVML_ASK_ALL};
    for (size_t i = 0; i < count; i++)
        what[i] = (unsigned char)(NVML_ASK_NEW + gpus[i]);
    uint64_t first = n->sent + 1; /* each GPU answers this request or a later one */
    return request_samples(n, what, count > 0 ? count : 1) ? first : 0;
}

bool nvml_answered(const struct nvml *n, uint64_t request, const int32_t *gpus, size_t count)
{
    int32_t all = n->page ? atomic_load(&n->page->gpu_count) : 0;
    bool answered = all > 0;
    for (size_t i = 0; i < count; i++)
        answered &= atomic_load(&n->page->slot[gpus[i]].served) >= request;
    for (int32_t i = 0; count == 0 && i < all && i < NVML_GPUS_MAX; i++)
        answered &= atomic_load(&n->page->slot[i].served) >= request;
    return answered;
}

void nvml_drain(const struct nvml *n)
{
    uint64_t count;
    (void)!read(n->done, &count, sizeof count);
}

bool nvml_peek(const struct nvml *n, struct nvml_facts *out)
{
    return n->page && copy_page(n, out);
}

bool nvml_peek_one(const struct nvml *n, int32_t gpu, struct nvml_sample *out)
{
    return n->page && gpu < atomic_load(&n->page->gpu_count) && copy_slot(&n->page->slot[gpu], out);
}

bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out)
{
    struct pollfd p = {.fd = n->done, .events = POLLIN};
    int64_t until_ns = clock_deadline_ns(timeout_ms * 1e-3);
    uint64_t request = nvml_ask(n, NULL, 0);
    if (request == 0)
        return false;
    while (!nvml_answered(n, request, NULL, 0)) { /* an earlier request may be answered first */
        int64_t left_ns = until_ns - clock_mono_ns();
        if (left_ns <= 0 || poll(&p, 1, (int)(left_ns / 1000000) + 1) <= 0)
            return false;
        nvml_drain(n);
    }
    return copy_page(n, out);
}

static bool request_tick(struct nvml *n)
{
    unsigned char what[NVML_GPUS_MAX];
    size_t count = 0;
    for (int32_t i = 0; i < NVML_GPUS_MAX && i < atomic_load(&n->page->gpu_count); i++)
        if (n->used == 0 || n->used >> i & 1)
            what[count++] = (unsigned char)(NVML_ASK_TICK + i);
    return request_samples(n, what, count);
}

bool nvml_latest(struct nvml *n, const void *asker, struct nvml_facts *out)
{
    int64_t now = clock_mono_ns();
    if (asker != n->asker && now - n->asked_ns < n->spacing_ns)
        return nvml_peek(n, out);
    n->asker = asker;
    n->asked_ns = now;
    /* The page is copied first, or a tick would now and then see the answer to its own request, and the next
     * tick nothing new. */
    return copy_page(n, out) && request_tick(n);
}

int nvml_command(const char *const *words, struct buf *out, struct run_result *res, struct err *err)
{
    char path[64];
    const char *argv[WORDS_MAX + 2] = {path};
    AUTO_CLOSE int program = helper_program();
    if (program < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot keep the NVML helper in memory");
    for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 1] = words[i];
    /* /proc/self would not do: the child has closed its other descriptors when it executes the program. */
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), program);
    struct run run = {.argv = argv,
                      .on_stdout = out ? run_collect : NULL,
                      .on_stdout_arg = out,
                      .deadline_s = command_limit_s};
    return run_program(&run, res, err);
}
