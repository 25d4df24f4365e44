#include "common/contract/kernel_facts.h"

#include <string.h>

enum { FACT_MAX = 1 << 30 };

static const char *const resource_names[] = {
    [KERNEL_VGPRS] = "vgprs",
    [KERNEL_AGPRS] = "agprs",
    [KERNEL_SGPRS] = "sgprs",
    [KERNEL_SCRATCH_BYTES] = "scratch_bytes",
    [KERNEL_VGPR_SPILLS] = "vgpr_spills",
    [KERNEL_SGPR_SPILLS] = "sgpr_spills",
    [KERNEL_LDS_BYTES] = "lds_bytes",
};

static const char *const class_names[] = {
    [INSTRUCTION_MATRIX] = "matrix",
    [INSTRUCTION_VECTOR] = "vector",
    [INSTRUCTION_TRANSCENDENTAL] = "transcendental",
    [INSTRUCTION_SCALAR] = "scalar",
    [INSTRUCTION_GLOBAL_LOAD] = "global_load",
    [INSTRUCTION_GLOBAL_STORE] = "global_store",
    [INSTRUCTION_LDS] = "lds",
    [INSTRUCTION_SCRATCH] = "scratch",
    [INSTRUCTION_BARRIER] = "barrier",
    [INSTRUCTION_WAIT] = "wait",
    [INSTRUCTION_BRANCH] = "branch",
    [INSTRUCTION_OTHER] = "other",
};

const char *kernel_resource_name(enum kernel_resource r)
{
    return resource_names[r];
}

const char *instruction_class_name(enum instruction_class c)
{
    return class_names[c];
}

void kernel_facts_init(struct kernel_facts *f)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < KERNEL_RESOURCES; i++)
        f->resource[i] = KERNEL_FACT_UNKNOWN;
    for (int i = 0; i < INSTRUCTION_CLASSES; i++)
        f->instructions[i] = f->hot_loop[i] = KERNEL_FACT_UNKNOWN;
}

static bool any_known(const int64_t *numbers, int n)
{
    for (int i = 0; i < n; i++)
        if (numbers[i] != KERNEL_FACT_UNKNOWN)
            return true;
    return false;
}

bool kernel_facts_known(const struct kernel_facts *f)
{
    return *f->body || any_known(f->resource, KERNEL_RESOURCES) ||
           any_known(f->instructions, INSTRUCTION_CLASSES);
}

static json_t *encode_group(const int64_t *numbers, const char *const *names, int n)
{
    if (!any_known(numbers, n))
        return NULL;
    json_t *out = json_object();
    for (int i = 0; i < n; i++)
        if (numbers[i] != KERNEL_FACT_UNKNOWN)
            json_object_set_new(out, names[i], json_integer(numbers[i]));
    return out;
}

json_t *kernel_facts_encode(const struct kernel_facts *f)
{
    return json_pack("{s:s*, s:o*, s:o*, s:o*}", "body", *f->body ? f->body : NULL, "resources",
                     encode_group(f->resource, resource_names, KERNEL_RESOURCES), "instructions",
                     encode_group(f->instructions, class_names, INSTRUCTION_CLASSES), "hot_loop",
                     encode_group(f->hot_loop, class_names, INSTRUCTION_CLASSES));
}

static int decode_group(const struct json_at *at, const char *key, const char *const *names, int n,
                        int64_t *numbers, struct err *err)
{
    struct json_at group = json_member(at, key);
    if (!group.value)
        return 0;
    if (!json_is_object(group.value))
        return json_fail(&group, err, "expected an object");
    for (int i = 0; i < n; i++) {
        struct json_at number = json_member(&group, names[i]);
        if (!number.value)
            continue;
        json_int_t x = json_integer_value(number.value);
        if (!json_is_integer(number.value) || x < 0 || x > FACT_MAX)
            return json_fail(&number, err, "expected an integer from 0 to %d", FACT_MAX);
        numbers[i] = x;
    }
    return 0;
}

static int decode_body(const struct json_at *at, char *out, struct err *err)
{
    struct json_at body = json_member(at, "body");
    const char *text = json_string_value(body.value);
    if (!body.value)
        return 0;
    if (!text || strlen(text) != KERNEL_BODY_LEN || strspn(text, "0123456789abcdef") != KERNEL_BODY_LEN)
        return json_fail(&body, err, "expected %d lower-case hex digits", KERNEL_BODY_LEN);
    memcpy(out, text, KERNEL_BODY_LEN + 1);
    return 0;
}

int kernel_facts_decode(const struct json_at *at, struct kernel_facts *f, struct err *err)
{
    kernel_facts_init(f);
    return decode_body(at, f->body, err) != 0 ||
                   decode_group(at, "resources", resource_names, KERNEL_RESOURCES, f->resource, err) != 0 ||
                   decode_group(at, "instructions", class_names, INSTRUCTION_CLASSES, f->instructions, err) !=
                       0 ||
                   decode_group(at, "hot_loop", class_names, INSTRUCTION_CLASSES, f->hot_loop, err) != 0
               ? -1
               : 0;
}
