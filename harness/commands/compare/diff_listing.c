#include "harness/commands/compare/diff_listing.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEADLINE_S = 60, DIFF_DIFFERS = 1 };

bool diff_listing_load(const char *bundle, const char *variant, struct buf *out)
{
    char path[FS_PATH_MAX];
    struct err ignored = {.kind = ERR_NONE};
    int n = snprintf(path, sizeof path, "%s/%s/listings.txt", bundle, variant);
    buf_init(out, DIFF_LISTINGS_BYTES_MAX);
    return *bundle && n > 0 && n < (int)sizeof path && fs_exists(path) &&
           fs_read_file(path, DIFF_LISTINGS_BYTES_MAX, out, &ignored) == 0;
}

/* Finds the lines that follow "== KERNEL GPU HASH". */
static bool find_kernel(const struct buf *listings, const char *kernel, const char **text, size_t *len)
{
    size_t name = strlen(kernel);
    const char *line = buf_str(listings);
    while (line) {
        if (strncmp(line, "== ", 3) == 0 && strncmp(line + 3, kernel, name) == 0 && line[3 + name] == ' ')
            break;
        line = strstr(line, "\n== ");
        line = line ? line + 1 : NULL;
    }
    *text = line ? strchr(line, '\n') : NULL;
    if (!*text)
        return false;
    const char *next = strstr(*text, "\n== ");
    ++*text;
    *len = next ? (size_t)(next + 1 - *text) : strlen(*text);
    return true;
}

/* Returns a file that only this process and its children can see, or -1. */
static int as_file(const char *text, size_t len)
{
    int fd = memfd_create("kernsweep-listing", MFD_CLOEXEC);
    if (fd >= 0 && fs_write_all(fd, text, len) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Appends printable text only, since the bundle is untrusted and a terminal may show it. */
static int keep(void *arg, const char *data, size_t len, struct err *err)
{
    struct buf *out = arg;
    (void)err;
    for (size_t i = 0; i < len && out->len < DIFF_LISTING_MAX; i++) {
        bool plain = data[i] == '\n' || (data[i] >= ' ' && data[i] < 0x7f);
        buf_putc(out, plain ? data[i] : '?');
    }
    return 0;
}

static int run_diff(int before, int now, struct buf *out, struct err *err)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "/proc/%d/fd/%d", (int)getpid(), before);
    snprintf(b, sizeof b, "/proc/%d/fd/%d", (int)getpid(), now);
    const char *const argv[] = {"diff", "-u", "--label", "before", "--label", "after", a, b, NULL};
    const struct run run = {
        .argv = argv, .on_stdout = keep, .on_stdout_arg = out, .end_group = true, .deadline_s = DEADLINE_S};
    struct run_result result;
    if (run_program(&run, &result, err) != 0)
        return err_wrap(err, "diff");
    return result.exited && result.exit_code <= DIFF_DIFFERS ? 0 : run_expect_success(&result, "diff", err);
}

int diff_listing(const struct buf *before, const struct buf *now, const char *kernel, struct buf *out,
                 struct err *err)
{
    const char *a, *b;
    size_t a_len, b_len;
    if (!find_kernel(before, kernel, &a, &a_len) || !find_kernel(now, kernel, &b, &b_len))
        return 0;
    AUTO(buf_release) struct buf text = {.max = DIFF_LISTING_MAX};
    AUTO_CLOSE int from = as_file(a, a_len);
    AUTO_CLOSE int to = as_file(b, b_len);
    if (from < 0 || to < 0)
        return err_set(err, ERR_STORAGE, "the listings of two runs cannot be kept in memory");
    if (run_diff(from, to, &text, err) != 0)
        return -1;
    buf_add(out, buf_str(&text), text.len);
    if (text.len == DIFF_LISTING_MAX)
        buf_printf(out, "\n(cut off after %d bytes)\n", DIFF_LISTING_MAX);
    return 0;
}
