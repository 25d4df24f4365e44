#include "executor/node/facts.h"

#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/contract/proto.h"
#include "executor/node/attribute.h"
#include "executor/node/clocks.h"
#include "executor/node/gpus.h"
#include "executor/node/leftover.h"
#include "executor/node/login.h"
#include "executor/node/model_facts.h"
#include "executor/node/nvml_settings.h"
#include "executor/node/system.h"
#include "executor/node/toolchain.h"
#include "executor/process/contain.h"
#include "executor/workdir/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NVML_LIMIT_MS = 2000 };

static json_t *or_null(json_t *value)
{
    return value ? value : json_null();
}

static json_t *memory_bytes(const struct layout *l)
{
    json_auto_t *text = attribute_keyed(l->proc, "meminfo", "MemTotal", ':');
    long long kib = json_is_string(text) ? strtoll(json_string_value(text), NULL, 10) : 0;
    return kib > 0 ? json_integer(kib * 1024) : json_null();
}

static json_t *disk_free(const struct layout *l)
{
    struct statvfs fs;
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s", l->workdir);
    while (statvfs(path, &fs) != 0) { /* it is made by the first run: until then its parent tells */
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            return json_null();
        *slash = '\0';
    }
    return json_integer((json_int_t)(fs.f_bavail * fs.f_frsize));
}

static json_t *driver_version(const struct layout *l, const struct nvml_facts *nvidia)
{
    json_t *amd = attribute_line(l->sysfs, "module/amdgpu/version");
    if (amd)
        return amd;
    return nvidia ? json_string(nvidia->driver) : or_null(attribute_line(l->proc, "driver/nvidia/version"));
}

static void append_numbered(json_t *out, json_t *more)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(more, i, gpu)
    {
        json_object_set_new(gpu, "index", json_integer((json_int_t)json_array_size(out)));
        json_array_append(out, gpu);
    }
    json_decref(more);
}

static size_t count_amd(const json_t *gpus)
{
    size_t n = 0;
    while (n < json_array_size(gpus) && strcmp(json_text(json_array_get(gpus, n), "vendor"), "amd") == 0)
        n++;
    return n;
}

static json_t *list_gpus(const struct layout *l, const struct nvml_facts *facts)
{
    json_t *gpus = json_array();
    append_numbered(gpus, gpus_amd(l));
    append_numbered(gpus, gpus_nvidia(l, facts));
    return gpus;
}

json_t *node_gpus(const struct layout *l, struct nvml *nvml)
{
    struct nvml_facts facts;
    return list_gpus(l, nvml_fresh(nvml, NVML_LIMIT_MS, &facts) ? &facts : NULL);
}

static void append_all(json_t *out, json_t *more)
{
    json_array_extend(out, more);
    json_decref(more);
}

json_t *node_probe(const struct layout *l, struct loop *loop, struct nvml *nvml, const char *model,
                   struct err *err)
{
    struct nvml_facts facts;
    bool has_facts = nvml_fresh(nvml, NVML_LIMIT_MS, &facts);
    struct utsname u;
    char now[CLOCK_ISO_LEN + 1];
    json_t *compilers = toolchain_probe(l, loop, err);
    if (!compilers)
        return NULL;
    uname(&u);
    clock_iso8601(clock_real_s(), now);
    json_t *gpus = list_gpus(l, has_facts ? &facts : NULL);
    if (has_facts)
        nvml_settings_add(gpus);
    json_t *processes = gpus_amd_processes(l);
    append_all(processes, gpus_nvidia_processes(has_facts ? &facts : NULL, count_amd(gpus)));
    json_t *node = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:I, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", PROTO_SCHEMA_NODE, "hostname", u.nodename, "kernel", u.release, "machine", u.machine, "os",
        attribute_keyed("/etc", "os-release", "PRETTY_NAME", '='), "cpu_model",
        attribute_keyed(l->proc, "cpuinfo", "model name", ':'), "cpus",
        (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "mem_bytes", memory_bytes(l), "system", system_settings(l),
        "time", now, "workdir", l->workdir, "disk_free_bytes", disk_free(l), "compilers", compilers, "rocm",
        or_null(toolchain_rocm()), "driver", driver_version(l, has_facts ? &facts : NULL), "gpus", gpus,
        "gpu_processes", processes, "leftovers", leftover_list(l));
    if (!node) {
        err_set(err, ERR_INTERNAL, "the node's facts cannot be encoded: a name is not UTF-8");
        return NULL;
    }
    json_object_set_new(node, "login", login_variables());
    json_object_set_new(node, "containment", contain_look(l, &scope_host_usual));
    if (model)
        json_object_set_new(node, "model", model_facts(model));
    json_auto_t *left = clocks_left(l, gpus), *unfinished = tree_sweep(l);
    if (json_array_size(left) > 0)
        json_object_set(node, "clocks_left", left);
    if (json_array_size(unfinished) > 0)
        json_object_set(node, "unfinished", unfinished);
    return node;
}
