#include "harness/plan/nodes.h"

#include "common/contract/node_name.h"

#include <string.h>

static int check_array(const struct json_at *at, const struct json_at *root, bool scheduled, struct err *err)
{
    struct json_at one = json_member(root, "node");
    if (!json_is_array(at->value) || json_array_size(at->value) < 1 ||
        json_array_size(at->value) > PLAN_NODES_MAX)
        return json_expected(at, "an array of 1 to 64 nodes, each " NODE_NAME_EXPECTED, err);
    if (one.value)
        return json_fail(at, err, "the plan also has \"node\": use only one of the two");
    if (scheduled)
        return json_fail(at, err,
                         "a plan with a \"scheduler\" has one \"node\": the scheduler chooses the machines");
    return 0;
}

static int read_name(struct plan_nodes *n, const struct json_at *at, struct err *err)
{
    const char *name = json_string_value(at->value);
    if (!name || strlen(name) > NODE_NAME_MAX || !node_name_is_valid(name))
        return json_expected(at, NODE_NAME_EXPECTED, err);
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->name[i], name) == 0)
            return json_fail(at, err, "the node is listed twice");
    n->name[n->count++] = name;
    return 0;
}

int plan_nodes_read(struct plan_nodes *n, const struct json_at *root, bool scheduled, struct err *err)
{
    struct json_at at = json_member(root, "nodes");
    *n = (struct plan_nodes){0};
    if (!at.value)
        return 0;
    if (check_array(&at, root, scheduled, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(at.value); i++) {
        struct json_at one = json_element(&at, i);
        if (read_name(n, &one, err) != 0)
            return -1;
    }
    return 0;
}
