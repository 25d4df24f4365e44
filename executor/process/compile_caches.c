#include "executor/process/compile_caches.h"

#include "common/base/environment.h"
#include "common/base/fs.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 100000 };

/* By variable: the folder's part that it names. The last one stands for caches that have no variable. */
static const char *const caches[][2] = {{"TRITON_CACHE_DIR", "triton"},
                                        {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
                                        {"TORCH_EXTENSIONS_DIR", "extensions"},
                                        {"PYTORCH_KERNEL_CACHE_PATH", "torch"},
                                        {"MIOPEN_USER_DB_PATH", "miopen-db"},
                                        {"MIOPEN_CUSTOM_CACHE_DIR", "miopen"},
                                        {"FLYDSL_RUNTIME_CACHE_DIR", "flydsl"},
                                        {"FLYDSL_AUTOTUNE_CACHE_DIR", "flydsl-autotune"},
                                        {"TILELANG_CACHE_DIR", "tilelang"},
                                        {"CUDA_CACHE_PATH", "cuda"},
                                        {"CCACHE_DIR", "ccache"},
                                        {"XDG_CACHE_HOME", "xdg"}};
enum { CACHES = sizeof caches / sizeof *caches };
/* What is in ~/.cache by default and large. */
static const char *const downloads[][2] = {
    {"HF_HOME", "huggingface"}, {"TORCH_HOME", "torch"}, {"PIP_CACHE_DIR", "pip"}, {"UV_CACHE_DIR", "uv"}};

static void keep_downloads(struct strvec *env)
{
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    const char *home = environment_get(env, "HOME"), *cache = environment_get(env, "XDG_CACHE_HOME");
    if (cache && *cache)
        snprintf(folder, sizeof folder, "%s", cache);
    else if (!home || fs_join(folder, NULL, home, ".cache") != 0)
        return;
    for (size_t i = 0; i < sizeof downloads / sizeof *downloads; i++)
        if (!environment_get(env, downloads[i][0]) && fs_join(path, NULL, folder, downloads[i][1]) == 0)
            environment_set(env, downloads[i][0], path);
}

void compile_caches_set(struct strvec *env, const char *folder)
{
    char path[FS_PATH_MAX];
    keep_downloads(env);
    for (size_t i = 0; i < CACHES; i++)
        if (fs_join(path, NULL, folder, caches[i][1]) == 0)
            environment_set(env, caches[i][0], path);
}

static int count_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    int *files = arg;
    (void)relpath, (void)fullpath;
    return ++*files < FILES_MAX ? 0 : err_set(err, ERR_STORAGE, "too many files");
}

static void pass_over(const char *relpath, const char *why, void *arg)
{
    (void)relpath, (void)why, (void)arg;
}

int compile_caches_count(const struct strvec *env, const char *folder)
{
    int files = 0;
    struct err ignored;
    size_t len = strlen(folder);
    for (size_t i = 0; i < CACHES; i++) {
        const char *named = environment_get(env, caches[i][0]);
        if (!named || strncmp(named, folder, len) != 0)
            return -1;
    }
    return fs_is_dir(folder) && fs_walk_rest(folder, count_file, pass_over, &files, &ignored) == 0 ? files
                                                                                                   : -1;
}
