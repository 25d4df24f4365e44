#include "executor/node/system.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/text.h"
#include "executor/node/attribute.h"
#include "executor/workdir/sysfile.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_LINE_MAX = 8192, OPTIONS_MAX = 200 };

/* Takes value. */
static void add(json_t *out, const char *key, json_t *value)
{
    if (value && !json_is_null(value))
        json_object_set_new(out, key, value);
    else
        json_decref(value);
}

/* Returns the word in brackets of "always [madvise] never". */
static json_t *chosen_word(json_t *line)
{
    const char *text = json_string_value(line), *open = text ? strchr(text, '[') : NULL;
    const char *close = open ? strchr(open, ']') : NULL;
    json_t *out = close ? json_stringn(open + 1, (size_t)(close - open - 1)) : NULL;
    json_decref(line);
    return out;
}

struct governors {
    json_t *name; /* NULL: none seen */
    bool differ;
};

static void see_governor(const char *path, const char *name, void *arg)
{
    struct governors *g = arg;
    json_auto_t *own = attribute_line(path, "cpufreq/scaling_governor");
    (void)name;
    if (own && g->name && !json_equal(own, g->name))
        g->differ = true;
    if (own && !g->name)
        g->name = json_incref(own);
}

/* Returns "mixed" where CPUs differ. */
static json_t *governor(const struct layout *l)
{
    char root[FS_PATH_MAX];
    struct governors g = {.name = NULL};
    if (fs_join(root, NULL, l->sysfs, "devices/system/cpu") == 0)
        entries_each(root, "cpu", see_governor, &g);
    if (!g.differ)
        return g.name;
    json_decref(g.name);
    return json_string("mixed");
}

static bool is_of_interest(const char *word, size_t len)
{
    static const char *const starts[] = {"iommu=",          "amd_iommu=",
                                         "intel_iommu=",    "pci=",
                                         "numa_balancing=", "transparent_hugepage=",
                                         "amdgpu.",         "nvidia.",
                                         "mitigations=",    "processor.max_cstate="};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t n = strlen(starts[i]);
        if (len >= n && strncmp(word, starts[i], n) == 0)
            return true;
    }
    return false;
}

/* The rest of the command line may hold private details, such as the disk's identity. */
static json_t *kernel_options(const struct layout *l)
{
    char line[COMMAND_LINE_MAX];
    bool found = sysfile_line(l->proc, "cmdline", line, sizeof line);
    AUTO(buf_release) struct buf out = {.max = OPTIONS_MAX};
    AUTO(buf_release) struct buf clean = {.max = (size_t)OPTIONS_MAX * 8};
    for (const char *p = line; *p;) {
        size_t len = strcspn(p, " \n");
        if (is_of_interest(p, len) && out.len + len + 1 < OPTIONS_MAX)
            buf_printf(&out, "%s%.*s", out.len > 0 ? " " : "", (int)len, p);
        p += len + strspn(p + len, " \n");
    }
    text_printable(&clean, buf_str(&out), out.len, OPTIONS_MAX);
    json_t *value = found ? json_string(buf_str(&clean)) : NULL;
    return value;
}

json_t *system_settings(const struct layout *l)
{
    json_t *out = json_object();
    add(out, "governor", governor(l));
    add(out, "smt", attribute_line(l->sysfs, "devices/system/cpu/smt/control"));
    add(out, "thp", chosen_word(attribute_line(l->sysfs, "kernel/mm/transparent_hugepage/enabled")));
    add(out, "numa_balancing", attribute_number(l->proc, "sys/kernel/numa_balancing"));
    add(out, "kernel_options", kernel_options(l));
    return out;
}
