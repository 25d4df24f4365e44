#include "common/contract/gate.h"

#include "common/base/alloc.h"
#include "common/base/regex.h"
#include "common/contract/proto.h"
#include "common/contract/settings.h"

#include <string.h>

enum { KERNEL_PATTERN_MAX = 1024, GATE_OBJECTS_MAX = 16 };

static const char *const names[GATE_KIND_COUNT + 1] = {
    [GATE_COMMAND] = "command",       [GATE_SCRATCH_BYTES] = "scratch_bytes",
    [GATE_SPILLS] = "spills",         [GATE_VGPRS] = "vgprs",
    [GATE_LDS_BYTES] = "lds_bytes",   [GATE_MIN_OCCUPANCY] = "min_occupancy",
    [GATE_MAX_REL_L2] = "max_rel_l2",
};

const struct key gate_keys[] = {
    {KEY_AT(struct gate, kind), .kind = KEY_CHOICE, .in = IN_BOTH, .required = true, .words = names},
    {KEY_AT(struct gate, name), .kind = KEY_NAME, .in = IN_BOTH, .most = LIMIT_NAME},
    {KEY_AT(struct gate, limit), .kind = KEY_NUMBER, .in = IN_BOTH, .most = 1e15, .usual = -1},
    {.name = "run", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "objects", .kind = KEY_PART, .in = IN_BOTH},
    {KEY_AT(struct gate, kernel), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = KERNEL_PATTERN_MAX},
    {KEY_AT(struct gate, timeout_s), .kind = KEY_NUMBER, .in = IN_BOTH, .least = 0.001, .most = DAY_S,
     .usual = 60},
    {.name = NULL},
};

static int read_kernel_pattern(const struct gate *gate, const struct json_at *at, struct err *err)
{
    struct json_at kernel = json_member(at, "kernel");
    struct err why = {.kind = ERR_NONE};
    AUTO(regex_release) struct regex re = {.code = NULL};
    if (!gate->kernel)
        return 0;
    return regex_compile(&re, gate->kernel, &why) != 0 ? json_fail(&kernel, err, "%.200s", why.msg) : 0;
}

static int read_objects(struct gate *gate, const struct json_at *at, unsigned allowed, struct err *err)
{
    struct json_at objects = json_member(at, "objects");
    size_t n;
    if (!objects.value)
        return 0;
    if (!json_is_array(objects.value))
        return json_expected(&objects, "an array of paths", err);
    return command_list_length(&objects, "patterns", GATE_OBJECTS_MAX, &n, err) != 0 ||
                   command_read(&gate->objects, &objects, allowed, err) != 0
               ? -1
               : 0;
}

/* Rejects keys that belong to other kinds of gates. */
static int check_keys(enum gate_kind kind, const struct json_at *at, struct err *err)
{
    static const char *const of_commands[] = {"run", "timeout_s"};
    if (!gate_has_limit(kind) && json_object_get(at->value, "limit"))
        return json_fail(at, err, "a gate of the kind \"%s\" has no \"limit\"", names[kind]);
    for (size_t i = 0; i < sizeof of_commands / sizeof *of_commands; i++)
        if (!gate_has_command(kind) && json_object_get(at->value, of_commands[i]))
            return json_fail(at, err, "a gate of the kind \"%s\" has no \"%s\"", names[kind], of_commands[i]);
    if (!gate_has_kernels(kind) && json_object_get(at->value, "kernel"))
        return json_fail(at, err, "a gate of the kind \"%s\" has no \"kernel\"", names[kind]);
    if (!gate_has_kernels(kind) && json_object_get(at->value, "objects"))
        return json_fail(at, err, "a gate of the kind \"%s\" has no \"objects\"", names[kind]);
    return 0;
}

int gate_read(struct gate *gate, const struct json_at *at, unsigned allowed, struct err *err)
{
    const struct key_table table = {gate_keys, gate};
    struct json_at limit = json_member(at, "limit"), run = json_member(at, "run");
    if (!json_is_object(at->value))
        return json_expected(at, "a gate as an object", err);
    if (keys_read(at, IN_BOTH, &table, 1, err) != 0 || check_keys(gate->kind, at, err) != 0)
        return -1;
    if (gate_has_limit(gate->kind) && !limit.value)
        return json_expected(&limit, "a number", err);
    if (!gate->name)
        gate->name = names[gate->kind];
    if (read_kernel_pattern(gate, at, err) != 0 || read_objects(gate, at, allowed, err) != 0)
        return -1;
    return gate_has_command(gate->kind) ? command_read(&gate->run, &run, allowed, err) : 0;
}

void gate_release(struct gate *gate)
{
    command_release(&gate->run);
    command_release(&gate->objects);
}

const char *gate_kind_name(enum gate_kind kind)
{
    return names[kind];
}

bool gate_has_command(enum gate_kind kind)
{
    return kind == GATE_COMMAND || kind == GATE_MAX_REL_L2;
}

bool gate_has_limit(enum gate_kind kind)
{
    return kind != GATE_COMMAND;
}

bool gate_has_kernels(enum gate_kind kind)
{
    return gate_has_limit(kind) && !gate_has_command(kind);
}

bool gate_passes(enum gate_kind kind, double number, double limit)
{
    return kind == GATE_MIN_OCCUPANCY ? number >= limit : number <= limit;
}
