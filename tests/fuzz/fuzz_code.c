/* A built file, as the code identity reads it: code objects, cubins, their containers, host files. */
#include "executor/code/built_file.h"
#include "executor/code/scan.h"
#include "tests/fuzz/fuzz.h"

/* What is written can be read. */
static void check_kernel(const struct code_item *kernel)
{
    struct err err = {0};
    struct kernel_facts facts;
    json_t *encoded = code_kernel_encode(kernel);
    const struct json_at at = {.value = encoded, .file = "code.json"};
    fuzz_check(strlen(kernel->gpu) < TARGET_MAX);
    fuzz_check(!encoded || kernel_facts_decode(&at, &facts, &err) == 0);
    json_decref(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mask mask = {.folder = {"/build", "/src"}};
    char sha256[SHA256_HEX_LEN + 1];
    struct err err = {0};
    struct code_set set;
    struct code code = {.kernel = NULL};
    code_set_init(&set);
    scan_device((struct span){data, size}, &mask, NULL, &set);
    int rc = code_set_check(&set, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    if (rc == 0 && code_set_has_device(&set)) {
        fuzz_check(code_of_set(&set, &code, &err) == 0);
        for (size_t i = 0; i < code.kernels; i++)
            fuzz_check(strlen(code.kernel[i].name) < MASK_NAME_MAX && sha256_is_hex(code.kernel[i].sha256));
        code_release(&code);
        code_kernels(&set, &code);
        for (size_t i = 0; i < code.kernels; i++)
            check_kernel(&code.kernel[i]);
        code_release(&code);
    }
    code_set_release(&set);
    built_file_hash((struct span){data, size}, &mask, sha256);
    fuzz_check(sha256_is_hex(sha256));
    return 0;
}
