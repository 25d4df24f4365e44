#include "executor/code/disasm.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/run.h"
#include "common/base/spawn.h"
#include "executor/code/disassembly.h"
#include "executor/code/mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LLVM_NEWEST = 29, LLVM_OLDEST = 14, SYMBOLS_BYTES_MAX = 64 << 10 };

struct disasm_seen {
    char sha256[SHA256_HEX_LEN + 1];
    size_t first, count; /* its items in the set */
};

struct task {
    struct disasm *disasm;
    struct code_set *set;
    size_t first;
    struct disassembly parser;
};

/* Finds the program of that name in a folder. out: char[FS_PATH_MAX]; "" if it is not there. */
static bool in_folder(const char *folder, const char *name, char *out)
{
    if (fs_join(out, NULL, folder, name) == 0 && access(out, X_OK) == 0)
        return true;
    *out = '\0';
    return false;
}

static void find_llvm(char *out)
{
    char folder[FS_PATH_MAX], name[32];
    const char *rocm = getenv("ROCM_PATH");
    if ((rocm && fs_join(folder, NULL, rocm, "llvm/bin") == 0 && in_folder(folder, "llvm-objdump", out)) ||
        in_folder("/opt/rocm/llvm/bin", "llvm-objdump", out))
        return;
    for (int version = LLVM_NEWEST; version >= LLVM_OLDEST; version--) {
        snprintf(name, sizeof name, "llvm-objdump-%d", version);
        if (spawn_find(name, out))
            return;
    }
    spawn_find("llvm-objdump", out);
}

static struct code_item *find_item(const struct task *t, enum code_item_kind kind, const char *symbol)
{
    char name[MASK_NAME_MAX];
    mask_name(symbol, name);
    for (size_t i = t->first; i < t->set->count; i++)
        if (t->set->item[i].kind == kind && strcmp(t->set->item[i].name, name) == 0)
            return &t->set->item[i];
    return NULL;
}

/* Before gfx940, kernels access scratch memory by buffer instructions. */
static bool has_buffer_scratch(const struct code_item *kernel)
{
    const char *gpu = kernel->gpu;
    return kernel->facts.resource[KERNEL_SCRATCH_BYTES] > 0 &&
           (strncmp(gpu, "gfx90", 5) == 0 || strncmp(gpu, "gfx10", 5) == 0);
}

static bool on_symbol(void *arg, const char *symbol, bool *buffer_scratch)
{
    struct task *t = arg;
    const struct code_item *kernel = find_item(t, CODE_ITEM_KERNEL, symbol);
    *buffer_scratch = kernel && has_buffer_scratch(kernel);
    return kernel || find_item(t, CODE_ITEM_FUNCTION, symbol);
}

static void on_function(void *arg, const struct disassembly_function *f)
{
    struct task *t = arg;
    struct code_item *kernel = find_item(t, CODE_ITEM_KERNEL, f->name);
    if (!kernel)
        return;
    memcpy(kernel->facts.instructions, f->instructions, sizeof kernel->facts.instructions);
    memcpy(kernel->facts.hot_loop, f->hot_loop, sizeof kernel->facts.hot_loop);
    if (!f->listing || kernel->listing || f->listing_len > t->disasm->listings_left)
        return;
    kernel->listing = xstrndup(f->listing, f->listing_len);
    t->disasm->listings_left -= f->listing_len;
}

static int on_output(void *arg, const char *data, size_t len, struct err *err)
{
    struct task *t = arg;
    (void)err;
    disassembly_feed(&t->parser, data, len);
    return 0;
}

/* Makes the object a file that only this process and its children see. Returns -1 if it cannot. */
static int as_file(struct span bytes)
{
    int fd = memfd_create("kernsweep-code", MFD_CLOEXEC);
    if (fd >= 0 && fs_write_all(fd, bytes.data, bytes.len) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* only: an option that restricts llvm-objdump to some symbols; NULL: none. */
static void run_tool(struct task *t, const struct scan_object *o, int fd, const char *only)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    const char *const llvm[] = {t->disasm->amd, "-d", "--no-show-raw-insn", path, only, NULL};
    const char *const nvdisasm[] = {t->disasm->nvidia, "-c", path, NULL};
    const struct run run = {.argv = o->cuda ? nvdisasm : llvm,
                            .on_stdout = on_output,
                            .on_stdout_arg = t,
                            .end_group = true,
                            .deadline_s = (double)(t->disasm->end_ns - clock_mono_ns()) / 1e9};
    struct run_result result;
    struct err ignored = {.kind = ERR_NONE};
    disassembly_init(&t->parser, o->cuda ? DISASSEMBLY_NVDISASM : DISASSEMBLY_LLVM);
    t->parser.listings = t->disasm->listings_left > 0;
    t->parser.begins = on_symbol;
    t->parser.function = on_function;
    t->parser.arg = t;
    /* Output that was cut off must not be counted as if it were whole. */
    if (run_program(&run, &result, &ignored) == 0 && result.exited && result.exit_code == 0)
        disassembly_finish(&t->parser);
    disassembly_release(&t->parser);
}

/* Takes the facts of an object that was met before. Returns false if it was not. */
static bool copy_seen(struct disasm *d, const char *sha256, struct code_set *set, size_t first)
{
    size_t count = set->count - first;
    for (size_t i = 0; i < d->seen_count; i++) {
        const struct disasm_seen *s = &d->seen[i];
        if (strcmp(s->sha256, sha256) != 0 || s->count != count)
            continue;
        for (size_t n = 0; n < count; n++)
            set->item[first + n].facts = set->item[s->first + n].facts;
        return true;
    }
    return false;
}

static void remember(struct disasm *d, const char *sha256, size_t first, size_t count)
{
    if (d->seen_count == DISASM_SEEN_MAX)
        return;
    ALLOC_GROW(d->seen, d->seen_count + 1, d->seen_cap);
    struct disasm_seen *s = &d->seen[d->seen_count++];
    *s = (struct disasm_seen){.first = first, .count = count};
    memcpy(s->sha256, sha256, sizeof s->sha256);
}

static bool is_wanted(const struct disasm *d, const struct code_item *item)
{
    return item->kind == CODE_ITEM_KERNEL && (!d->wants || d->wants(d->arg, item->name));
}

static size_t wanted_kernels(const struct disasm *d, const struct code_set *set, size_t first)
{
    size_t wanted = 0;
    for (size_t i = first; i < set->count; i++)
        wanted += is_wanted(d, &set->item[i]);
    return wanted;
}

/* An object may have a thousand kernels: disassembles only those that are asked for. Returns false where it
 * must be the whole object, as for names that were masked and are no symbols. */
static bool run_for_wanted(struct task *t, const struct scan_object *o, int fd)
{
    const struct disasm *d = t->disasm;
    AUTO(buf_release) struct buf only = {.max = SYMBOLS_BYTES_MAX};
    bool all = true;
    buf_puts(&only, "--disassemble-symbols=");
    for (size_t i = t->first; i < t->set->count; i++) {
        const struct code_item *item = &t->set->item[i];
        all = all && (item->kind != CODE_ITEM_KERNEL || is_wanted(d, item));
        if (is_wanted(d, item))
            buf_printf(&only, "%s,", item->name);
    }
    if (all || o->cuda || !buf_ok(&only))
        return false;
    run_tool(t, o, fd, buf_str(&only));
    for (size_t i = t->first; i < t->set->count; i++)
        if (is_wanted(d, &t->set->item[i]) &&
            t->set->item[i].facts.instructions[INSTRUCTION_OTHER] == KERNEL_FACT_UNKNOWN)
            return false;
    return true;
}

static void on_object(void *arg, const struct scan_object *o, struct code_set *set)
{
    struct disasm *d = arg;
    struct task task = {.disasm = d, .set = set, .first = o->first};
    char sha256[SHA256_HEX_LEN + 1];
    struct sha256 h;
    size_t wanted = *(o->cuda ? d->nvidia : d->amd) ? wanted_kernels(d, set, o->first) : 0;
    if (wanted == 0)
        return;
    if (clock_mono_ns() >= d->end_ns) {
        d->late += wanted;
        return;
    }
    sha256_begin(&h);
    sha256_add(&h, o->bytes.data, o->bytes.len);
    sha256_end(&h, sha256);
    if (copy_seen(d, sha256, set, o->first))
        return;
    AUTO_CLOSE int fd = as_file(o->bytes);
    if (fd < 0)
        return;
    if (!run_for_wanted(&task, o, fd))
        run_tool(&task, o, fd, NULL);
    if (clock_mono_ns() >= d->end_ns)
        d->late += wanted; /* the program was stopped */
    remember(d, sha256, o->first, set->count - o->first);
}

void disasm_init(struct disasm *d, size_t listings_max, int seconds)
{
    *d = (struct disasm){.hook = {on_object, d},
                         .listings_left = listings_max,
                         .end_ns = clock_mono_ns() + (int64_t)seconds * 1000000000};
    find_llvm(d->amd);
    if (!spawn_find("nvdisasm", d->nvidia))
        in_folder("/usr/local/cuda/bin", "nvdisasm", d->nvidia);
}

void disasm_release(struct disasm *d)
{
    free(d->seen);
    *d = (struct disasm){.seen = NULL};
}
