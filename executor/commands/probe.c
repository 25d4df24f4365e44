#include "executor/commands/probe.h"

#include "executor/node/engines.h"
#include "executor/node/facts.h"

json_t *probe(const struct layout *layout, const char *model, struct err *err)
{
    struct loop loop;
    struct nvml nvml;
    if (loop_open(&loop, err) != 0)
        return NULL;
    nvml_open(&nvml, layout);
    json_t *node = node_probe(layout, &loop, &nvml, model, err);
    if (node)
        json_object_set_new(node, "engines", engines_probe(layout));
    nvml_close(&nvml);
    loop_close(&loop);
    return node;
}
