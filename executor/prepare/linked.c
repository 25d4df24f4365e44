#include "executor/prepare/linked.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "common/base/run.h"
#include "executor/code/built_file.h"
#include "executor/code/elf_file.h"
#include "executor/prepare/named_files.h"
#include "executor/process/ending.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LIBRARIES_TEXT_MAX = 1 << 20 };
static const double list_limit_s = 10;

struct linking {
    struct mask mask;
    const char *build;
    char real[PATH_MAX]; /* the build's folder without links */
    struct sha256 *hash;
    char *why;
    size_t count;
};

/* Returns an empty span for what is not a regular file with contents. The caller unmaps it. */
static struct span map_file(const char *path)
{
    struct stat st;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return SPAN_EMPTY;
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return data == MAP_FAILED ? SPAN_EMPTY : (struct span){data, (size_t)st.st_size};
}

static void unmap_file(struct span file)
{
    if (file.len > 0)
        munmap((void *)(uintptr_t)file.data, file.len);
}

/* Whether the file has the name of a function, as a string of its own. */
static bool names_function(struct span file, const char *name)
{
    char text[64];
    int len = snprintf(text + 1, sizeof text - 1, "%s", name);
    text[0] = '\0';
    return memmem(file.data, file.len, text, (size_t)len + 2) != NULL;
}

static bool names_any(struct span file, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (names_function(file, names[i]))
            return true;
    return false;
}

/* NVIDIA's runtime, linked statically, loads the driver's library and nothing else. */
static bool loads_the_driver(struct span file)
{
    return memmem(file.data, file.len, "libcuda.so.1", strlen("libcuda.so.1")) != NULL;
}

/* Why a program or library may run what it does not contain; NULL: it does not. */
static const char *runs_more(struct span file)
{
    static const char *const compiles[] = {"nvrtcCompileProgram", "hiprtcCompileProgram", "clBuildProgram",
                                           NULL};
    static const char *const starts[] = {"system",       "popen",   "execv",  "execve", "execvp",
                                         "execvpe",      "execl",   "execlp", "execle", "posix_spawn",
                                         "posix_spawnp", "fexecve", NULL};
    static const char *const loads[] = {"dlopen", "dlmopen", NULL};
    if (names_any(file, compiles))
        return "compiles while it runs";
    if (names_any(file, starts))
        return "starts other programs";
    return names_any(file, loads) && !loads_the_driver(file) ? "loads libraries by name" : NULL;
}

static void add_built(struct linking *l, const char *relpath, const char *path)
{
    char sha256[SHA256_HEX_LEN + 1] = "";
    struct span file = map_file(path);
    const char *more = elf_is(file) ? runs_more(file) : NULL;
    if (built_file_counts(relpath, file)) {
        built_file_hash(file, &l->mask, sha256);
        sha256_add_text(l->hash, relpath);
        sha256_add_text(l->hash, sha256);
    }
    if (more)
        reason_set(l->why, "the built file %.200s %s", relpath, more);
    unmap_file(file);
}

static bool is_built(const struct linking *l, const char *path)
{
    size_t len = strlen(l->real);
    return strncmp(path, l->real, len) == 0 && path[len] == '/';
}

/* A link to another built file is known by what it leads to. */
static void add_link(struct linking *l, const char *relpath, const char *path)
{
    char target[PATH_MAX];
    struct stat st;
    sha256_add_text(l->hash, relpath);
    if (!realpath(path, target)) {
        sha256_add_text(l->hash, NULL);
    } else if (is_built(l, target)) {
        sha256_add_text(l->hash, target + strlen(l->real));
    } else if (stat(target, &st) == 0 && S_ISREG(st.st_mode)) {
        named_files_stat(l->hash, target);
    } else {
        reason_set(l->why, "the build has a link out of it, %.200s", relpath);
    }
}

static int visit(const struct fs_entry *entry, void *arg, struct err *err)
{
    struct linking *l = arg;
    if (++l->count > NAMED_FILES_MAX)
        return err_set(err, ERR_INPUT, "the build has more than %d files", NAMED_FILES_MAX);
    if (entry->type == DT_LNK)
        add_link(l, entry->relpath, entry->fullpath);
    else if (entry->type == DT_REG)
        add_built(l, entry->relpath, entry->fullpath);
    return 0;
}

static void on_skipped(const char *relpath, const char *why, void *arg)
{
    struct linking *l = arg;
    reason_set(l->why, "the built file %.200s cannot be read: %.100s", relpath, why);
}

/* Gives the loader that a program asks for; "" for a static one. Returns false for what is no program. */
static bool find_loader(const char *program, char out[FS_PATH_MAX])
{
    struct span file = map_file(program);
    struct elf_file e;
    struct elf_section s;
    bool known = elf_open(&e, file);
    *out = '\0';
    for (size_t i = 0; known && i < e.sections; i++)
        if (elf_section(&e, i, &s) && strcmp(s.name, ".interp") == 0)
            snprintf(out, FS_PATH_MAX, "%.*s", (int)(s.data.len < FS_PATH_MAX ? s.data.len : 0),
                     (const char *)s.data.data);
    unmap_file(file);
    return known;
}

static bool is_interpreter(const char *path)
{
    static const char *const names[] = {"libpython", "libtorch", "libtriton", "libjulia",
                                        "libperl",   "libruby",  "liblua",    "libtcl"};
    const char *name = strrchr(path, '/') + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Adds the file of a line of the loader's list: "libm.so.6 => /lib/libm.so.6 (0x7f..)", or a path alone. */
static void add_library(struct linking *l, char *line)
{
    char *path = strchr(line, '/'), target[PATH_MAX];
    if (strstr(line, "not found"))
        reason_set(l->why, "a library of the program cannot be found: %.200s", line);
    if (!path)
        return; /* of the kernel: linux-vdso.so.1 */
    path[strcspn(path, " \t")] = '\0';
    if (is_interpreter(path))
        reason_set(l->why, "its program is linked with %.200s, which runs scripts", path);
    else if (!realpath(path, target))
        reason_set(l->why, "the library %.200s cannot be read", path);
    else if (!is_built(l, target) && !named_files_stat(l->hash, target))
        reason_set(l->why, "the library %.200s cannot be read", target);
}

static void add_libraries(struct linking *l, const char *loader, const char *program,
                          const struct strvec *env)
{
    AUTO(buf_release) struct buf text = {.max = LIBRARIES_TEXT_MAX};
    const char *const argv[] = {loader, "--list", program, NULL};
    const struct run run = {.argv = argv,
                            .env = strvec_argv(env),
                            .on_stdout = run_collect,
                            .on_stdout_arg = &text,
                            .deadline_s = list_limit_s,
                            .end_group = true,
                            .secret_argv = true};
    struct run_result res;
    struct err why = {.kind = ERR_NONE};
    char *rest = NULL;
    if (run_program(&run, &res, &why) != 0 || !res.exited || res.exit_code != 0 || !text.data) {
        reason_set(l->why, "the libraries of its program cannot be listed");
        return;
    }
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        add_library(l, line);
}

void linked_add(const char *build, const char *src, const char *program, const struct strvec *env,
                struct sha256 *h, char *why)
{
    struct linking l = {
        .mask = {.folder = {build, *src ? src : NULL}}, .build = build, .hash = h, .why = why};
    struct err err = {.kind = ERR_NONE};
    char loader[FS_PATH_MAX], real[PATH_MAX];
    if (!realpath(build, l.real) || fs_walk_entries(build, visit, on_skipped, &l, &err) != 0)
        reason_set(why, "its build cannot be read: %.300s", err.msg);
    else if (!realpath(program, real) || !is_built(&l, real))
        reason_set(why, "its program is not a file of its build");
    else if (!find_loader(program, loader))
        reason_set(why, "its program is not a compiled one");
    else if (!*loader)
        reason_set(why, "its program is linked statically, so what it starts is unknown");
    else
        add_libraries(&l, loader, program, env);
}
