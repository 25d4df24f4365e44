#include "results/store/identity.h"

#include <string.h>

static bool names_device(const char *key)
{
    static const char *const ends[] = {".unique_id", ".uuid", ".serial"};
    const char *dot = strrchr(key, '.');
    if (!dot || strncmp(key, "gpus", 4) != 0)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

void device_identity_begin(struct device_identity *id)
{
    id->known = false;
    sha256_begin(&id->hash);
}

void device_identity_add(struct device_identity *id, const struct run_fact *fact)
{
    if (!names_device(fact->key) || !*fact->value)
        return;
    id->known = true;
    sha256_add(&id->hash, fact->key, strlen(fact->key) + 1);
    sha256_add(&id->hash, fact->value, strlen(fact->value) + 1);
}

uint64_t device_identity_end(struct device_identity *id)
{
    char sha256[SHA256_HEX_LEN + 1];
    sha256_end(&id->hash, sha256);
    return id->known ? run_identity(sha256) : 0;
}

uint64_t run_device(const struct run_data *run)
{
    struct device_identity id;
    device_identity_begin(&id);
    for (size_t i = 0; i < run->n_facts; i++)
        device_identity_add(&id, &run->facts[i]);
    return device_identity_end(&id);
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
