#include "executor/node/toolchain.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/environment.h"
#include "common/base/json.h"
#include "common/base/run.h"
#include "common/base/text.h"
#include "common/contract/container.h"
#include "executor/node/attribute.h"
#include "executor/process/child.h"
#include "executor/process/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CACHE_MAX = 64 << 10 };

static const double fresh_s = 600;

/* This clock continues during suspend and never jumps, but restarts at boot: hence the boot id in the cache.
 */
static double boot_time_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static json_t *boot_id(void)
{
    char id[64] = "";
    AUTO_FCLOSE FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    return json_string(f && fgets(id, sizeof id, f) ? id : "");
}

/* Finds the first program of that name in the folders of path, as execvp() would. file: char[FS_PATH_MAX],
 * where it is. */
static int find_program(const char *path, const char *name, struct stat *st, char *file)
{
    char dir[FS_PATH_MAX];
    while (*path) {
        size_t len = strcspn(path, ":");
        if (len > 0 && len < sizeof dir) {
            memcpy(dir, path, len);
            dir[len] = '\0';
            if (fs_join(file, NULL, dir, name) == 0 && stat(file, st) == 0 && S_ISREG(st->st_mode) &&
                (st->st_mode & S_IXUSR))
                return 0;
        }
        path += len + (path[len] == ':');
    }
    return -1;
}

/* Returns the device, inode, size and change time of each program found in PATH, as one value to compare. */
static json_t *version_identity(const char *path, const char *const *names)
{
    json_t *out = json_array();
    char file[FS_PATH_MAX];
    struct stat st;
    for (size_t i = 0; names[i]; i++) {
        if (find_program(path ? path : "", names[i], &st, file) != 0)
            continue;
        json_array_append_new(out, json_pack("[s, I, I, I, I, I]", names[i], (json_int_t)st.st_dev,
                                             (json_int_t)st.st_ino, (json_int_t)st.st_size,
                                             (json_int_t)st.st_mtim.tv_sec, (json_int_t)st.st_ctim.tv_nsec));
    }
    return out;
}

/* Returns the list in that file when it is fresh and of this identity, else NULL. The caller owns it. */
static json_t *version_cache_load(const struct layout *l, const char *file, const json_t *identity)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, l->workdir, file) != 0 || !fs_exists(path))
        return NULL;
    json_auto_t *root = json_load(path, CACHE_MAX, NULL), *boot = boot_id();
    json_t *versions = json_object_get(root, "versions");
    double age = boot_time_s() - json_number_value(json_object_get(root, "asked_at"));
    bool fresh = age >= 0 && age < fresh_s && json_equal(json_object_get(root, "boot"), boot) &&
                 json_equal(json_object_get(root, "identity"), identity);
    return fresh && json_is_array(versions) ? json_incref(versions) : NULL;
}

static void version_cache_save(const struct layout *l, const char *file, json_t *identity, json_t *versions)
{
    char path[FS_PATH_MAX];
    json_auto_t *root = json_pack("{s:f, s:o, s:O, s:O}", "asked_at", boot_time_s(), "boot", boot_id(),
                                  "identity", identity, "versions", versions);
    if (root && fs_is_dir(l->workdir) && fs_join(path, NULL, l->workdir, file) == 0)
        json_save(path, root, NULL);
}

enum { VERSION_OUTPUT_MAX = 8192, VERSION_MAX = 200 };

static const char cache_file[] = "toolchain.json";
static const char *const compilers[] = {"cc", "c++", "clang", "hipcc", "nvcc", "make", NULL};

static void keep_output(void *arg, const char *data, size_t len)
{
    struct buf *out = arg;
    size_t room = VERSION_OUTPUT_MAX - out->len;
    buf_add(out, data, len < room ? len : room);
}

static bool has_version(const char *line, size_t len)
{
    for (size_t i = 1; i + 1 < len; i++) {
        if (line[i] == '.' && isdigit((unsigned char)line[i - 1]) && isdigit((unsigned char)line[i + 1]))
            return true;
    }
    return false;
}

/* Returns the first line with a number like 1.2: nvcc's first lines name only the vendor. */
static json_t *version_line(const char *text)
{
    AUTO(buf_release) struct buf line = {.max = VERSION_MAX * 8};
    size_t len;
    for (; *text; text += len + (text[len] != '\0')) {
        len = strcspn(text, "\n");
        if (!has_version(text, len))
            continue;
        text_printable(&line, text, len, VERSION_MAX);
        return json_string(buf_str(&line));
    }
    return NULL;
}

static int probe_version(struct loop *loop, const char *name, char *const *env, json_t *list, struct err *err)
{
    char command[32], option[] = "--version";
    char *argv[] = {command, option, NULL};
    AUTO(buf_release) struct buf text = {.max = VERSION_OUTPUT_MAX};
    snprintf(command, sizeof command, "%s", name);
    struct process_spec spec = {.argv = argv, .env = env, .cwd = "/", .input = -1};
    struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1};
    struct child_hooks hooks = {.output = keep_output, .arg = &text};
    struct child_result result;
    struct ending ending;
    int rc = child_run(loop, &spec, &limits, &hooks, &result, err);
    child_ending(&result, &limits, name, &ending);
    if (rc == 0 && assess_ending(&ending).status == STATUS_OK) {
        json_t *version = version_line(buf_str(&text));
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", name, "version", version ? version : json_null()));
    }
    return rc;
}

static json_t *probe_all(struct loop *loop, char *const *env, struct err *err)
{
    json_auto_t *list = json_array();
    for (size_t i = 0; compilers[i]; i++)
        if (probe_version(loop, compilers[i], env, list, err) != 0)
            return NULL;
    return json_incref(list);
}

json_t *toolchain_probe(const struct layout *l, struct loop *loop, struct err *err)
{
    const struct job none = {.root = NULL};
    const struct subst no_values = {.context = 0};
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    if (command_environment(&none, NULL, &no_values, NULL, &env, err) != 0)
        return NULL;
    json_auto_t *identity = version_identity(environment_get(&env, "PATH"), compilers);
    json_t *list = version_cache_load(l, cache_file, identity);
    if (!list && (list = probe_all(loop, env.v, err)))
        version_cache_save(l, cache_file, identity, list);
    return list;
}

/* Returns the version that the installation at that root states; NULL: it states none. */
static json_t *version_at(const char *root)
{
    char info[FS_PATH_MAX];
    return root && *root && fs_join(info, NULL, root, ".info") == 0 ? attribute_line(info, "version") : NULL;
}

/* A program is in bin, llvm/bin or lib/llvm/bin of its installation. */
static json_t *version_around(const char *program)
{
    enum { LEVELS = 4 };
    json_t *version = NULL;
    char *slash;
    AUTO_FREE char *real = realpath(program, NULL);
    for (int i = 0; real && !version && i < LEVELS && (slash = strrchr(real, '/')) != NULL; i++) {
        *slash = '\0';
        version = version_at(real);
    }
    return version;
}

json_t *toolchain_rocm(void)
{
    static const char *const usual[] = {"/opt/rocm", "/opt/rocm/core"};
    const struct job none = {.root = NULL};
    const struct subst no_values = {.context = 0};
    struct err ignored;
    struct stat st;
    char file[FS_PATH_MAX];
    json_t *version = NULL;
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    if (command_environment(&none, NULL, &no_values, NULL, &env, &ignored) == 0) {
        const char *path = environment_get(&env, "PATH");
        if (find_program(path ? path : "", "hipcc", &st, file) == 0)
            version = version_around(file);
        if (!version)
            version = version_at(environment_get(&env, "ROCM_PATH"));
    }
    for (size_t i = 0; !version && i < sizeof usual / sizeof *usual; i++)
        version = version_at(usual[i]);
    return version;
}

enum { ENGINE_OUTPUT_MAX = 4096, ENGINE_VERSION_MAX = 120 };

static const double version_limit_s = 10;

static json_t *engine_version(const char *name)
{
    const char *const argv[] = {name, "--version", NULL};
    struct run_result res;
    struct err err = {.kind = ERR_NONE};
    json_t *out = NULL;
    AUTO(buf_release) struct buf text = {.max = ENGINE_OUTPUT_MAX};
    AUTO(buf_release) struct buf line = {.max = ENGINE_VERSION_MAX * 8};
    if (run_capture(argv, NULL, version_limit_s, &text, &res, &err) == 0 && res.exited &&
        res.exit_code == 0) {
        text_printable(&line, buf_str(&text), strcspn(buf_str(&text), "\n"), ENGINE_VERSION_MAX);
        out = json_string(buf_str(&line));
    }
    return out ? out : json_null();
}

/* *complete: each engine in PATH gave its version. */
static json_t *ask_engines(bool *complete)
{
    json_t *out = json_array();
    *complete = true;
    for (int e = ENGINE_DOCKER; container_engine_names[e]; e++) {
        const char *name = container_engine_names[e];
        if (!spawn_on_path(name))
            continue;
        json_t *version = engine_version(name);
        *complete = *complete && json_is_string(version);
        json_array_append_new(out, json_pack("{s:s, s:o}", "name", name, "version", version));
    }
    return out;
}

json_t *engines_probe(const struct layout *l)
{
    static const char engines_file[] = "engines.json";
    bool complete;
    json_auto_t *identity = version_identity(getenv("PATH"), container_engine_names + ENGINE_DOCKER);
    json_t *out = version_cache_load(l, engines_file, identity);
    if (!out && (out = ask_engines(&complete)) && complete)
        version_cache_save(l, engines_file, identity, out);
    return out;
}
