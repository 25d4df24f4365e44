#include "executor/commands/resources.h"

#include "executor/code/identity.h"
#include "executor/disasm/disasm.h"

static json_t *encode(const struct code *code)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < code->kernels; i++)
        json_array_append_new(kernels, code_kernel_encode(&code->kernel[i]));
    return json_pack("{s:b, s:o, s:i}", "device_code", code->of_device, "kernels", kernels, "kernels_omitted",
                     (int)code->omitted);
}

json_t *resources_report(const char *path, struct err *err)
{
    struct disasm disasm;
    struct code_set set;
    struct code code = {.kernel = NULL};
    code_set_init(&set);
    disasm_init(&disasm, 0);
    int rc = identity_scan(path, &disasm.hook, &set, err);
    if (rc == 0)
        rc = code_kernels(&set, &code, err);
    json_t *out = rc == 0 ? encode(&code) : NULL;
    code_release(&code);
    code_set_release(&set);
    disasm_release(&disasm);
    return out;
}
