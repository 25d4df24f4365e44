#include "results/store/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Facts that tell GPUs apart, the best first. */
static const char *const names[] = {"unique_id", "uuid", "serial", "pci"};
enum { NAMES = sizeof names / sizeof *names };

void device_identity_begin(struct device_identity *id)
{
    *id = (struct device_identity){.rank = NAMES};
}

/* The end of "gpus0" in "gpus0.unique_id", also where it is written "gpus.0" or "gpus[0]"; NULL for a key of
 * no GPU, or of a part of one. */
static const char *end_of_owner(const char *key)
{
    size_t n = strncmp(key, "gpus", 4) == 0 ? 4 : 0;
    if (n)
        n += key[n] == '.' || key[n] == '[';
    if (!n || !isdigit((unsigned char)key[n]))
        return NULL;
    n += strspn(key + n, "0123456789]");
    return key[n] == '.' && !strchr(key + n + 1, '.') ? key + n : NULL;
}

static bool is_of_one(struct device_identity *id, const char *key, const char *dot)
{
    size_t n = (size_t)(dot - key);
    if (!*id->owner)
        snprintf(id->owner, sizeof id->owner, "%.*s", (int)n, key);
    return strlen(id->owner) == n && strncmp(id->owner, key, n) == 0;
}

static void take_name(struct device_identity *id, const char *name, const char *value)
{
    for (int rank = 0; rank < id->rank; rank++)
        if (strcmp(names[rank], name) == 0) {
            id->rank = rank;
            snprintf(id->id, sizeof id->id, "%s", value);
        }
    if (strcmp(name, "compute_partition") == 0)
        snprintf(id->partition, sizeof id->partition, "%.15s", value);
    if (strcmp(name, "memory_partition") == 0)
        snprintf(id->memory, sizeof id->memory, "%.15s", value);
}

void device_identity_add(struct device_identity *id, const struct run_fact *fact)
{
    const char *dot = end_of_owner(fact->key);
    if (!dot || !*fact->value)
        return;
    if (is_of_one(id, fact->key, dot))
        take_name(id, dot + 1, fact->value);
    else
        id->several = true;
}

uint64_t device_identity_end(const struct device_identity *id)
{
    char mode[RUN_MODE_MAX];
    snprintf(mode, sizeof mode, "%s%s%s", id->partition, *id->partition && *id->memory ? "/" : "",
             id->memory);
    return id->several ? 0 : gpu_identity(id->id, mode);
}

/* The same id is printed as "0xAB12", "ab12" or "GPU-ab12". */
static const char *without_prefix(const char *id)
{
    return strncmp(id, "GPU-", 4) == 0 ? id + 4 : strncmp(id, "0x", 2) == 0 ? id + 2 : id;
}

uint64_t gpu_identity(const char *gpu, const char *mode)
{
    struct sha256 h;
    char sha256[SHA256_HEX_LEN + 1];
    if (!*gpu)
        return 0;
    sha256_begin(&h);
    for (const char *p = without_prefix(gpu); *p; p++) {
        char c = (char)tolower((unsigned char)*p);
        sha256_add(&h, &c, 1);
        if (*p == '+')
            p = without_prefix(p + 1) - 1;
    }
    sha256_add(&h, mode, strlen(mode) + 1);
    sha256_end(&h, sha256);
    return run_identity(sha256);
}

size_t device_owner(const struct run_fact *fact, const char *id)
{
    const char *dot = end_of_owner(fact->key);
    if (!dot || !*fact->value || strcasecmp(without_prefix(fact->value), without_prefix(id)) != 0)
        return 0;
    for (int rank = 0; rank < NAMES; rank++)
        if (strcmp(names[rank], dot + 1) == 0)
            return (size_t)(dot - fact->key);
    return 0;
}

uint64_t run_device(const struct run_data *run)
{
    struct device_identity id;
    device_identity_begin(&id);
    for (size_t i = 0; i < run->n_facts; i++)
        device_identity_add(&id, &run->facts[i]);
    return device_identity_end(&id);
}

uint64_t test_device(const struct run_data *run, const struct run_test *t)
{
    return *t->gpu ? gpu_identity(t->gpu, t->gpu_mode) : run_device(run);
}

uint64_t run_identity(const char *sha256)
{
    uint64_t id = 0;
    if (!*sha256)
        return 0;
    for (size_t i = 0; i < 16 && sha256[i]; i++) {
        char c = sha256[i];
        id = id << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return id ? id : 1;
}

uint64_t variant_code(const struct run_variant *v)
{
    return run_identity(v->code_sha256);
}
