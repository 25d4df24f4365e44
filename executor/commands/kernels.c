#include "executor/commands/kernels.h"

#include "common/base/alloc.h"
#include "executor/code/build_identity.h"
#include "executor/code/disasm.h"

static json_t *encode(const struct code *code)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < code->kernels; i++)
        json_array_append_new(kernels, code_kernel_encode(&code->kernel[i]));
    return json_pack("{s:b, s:o, s:i}", "device_code", code->of_device, "kernels", kernels, "kernels_omitted",
                     (int)code->omitted);
}

json_t *kernels_report(const char *path, struct err *err)
{
    AUTO(disasm_release) struct disasm disasm = {.seen = NULL};
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    AUTO(code_release) struct code code = {.kernel = NULL};
    disasm_init(&disasm, 0);
    if (build_identity_scan(path, &disasm.hook, &set, err) != 0)
        return NULL;
    code_kernels(&set, &code);
    return encode(&code);
}
