/* A database of rocprofv3's. The first byte chooses the table that it is read as. */
#include "results/ingest/bundle/counters_csv.h"
#include "results/ingest/text/rocpd.h"
#include "tests/fuzz/fuzz.h"

static const char *const asked[] = {NULL};

static void sum_up(const char *bytes, size_t len)
{
    struct counter_list counters = {.items = NULL};
    struct err err = {0};
    int rc = counters_parse(bytes, len, "counters.db", asked, "v", 16, &counters, &err);
    fuzz_check_err(rc, &err, ERR_INPUT);
    for (size_t i = 0; i < counters.count; i++) {
        fuzz_check_text(counters.items[i].kernel, strlen(counters.items[i].kernel));
        fuzz_check_text(counters.items[i].name, strlen(counters.items[i].name));
    }
    counter_list_release(&counters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data + 1;
    struct buf copy = {.max = 1 << 20};
    struct err err = {0};
    if (size < 1 || !rocpd_is(bytes, size - 1))
        return 0;
    buf_add(&copy, bytes, size - 1);
    json_t *rows = rocpd_read(&copy, data[0] % (ROCPD_KERNELS + 1), "results.db", &err);
    fuzz_check_err(rows ? 0 : -1, &err, ERR_INPUT);
    json_decref(rows);
    buf_release(&copy);
    sum_up(bytes, size - 1);
    return 0;
}
