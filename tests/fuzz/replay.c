/* replay: runs a fuzz target over files: seeds, and inputs that once were findings. Any compiler will do.
 *
 *   fuzz_<name> FILE...
 */
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 16 << 20 };

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct buf data;
        struct err err = {0};
        buf_init(&data, INPUT_MAX);
        if (fs_read_file(argv[i], INPUT_MAX, &data, &err) != 0) {
            fprintf(stderr, "%s\n", err.msg);
            return 2;
        }
        uint8_t *exact = malloc(data.len + !data.len); /* of its very size, for the sanitizer */
        fuzz_check(exact != NULL);
        if (data.len)
            memcpy(exact, data.data, data.len);
        fprintf(stderr, "%s\n", argv[i]); /* the last one named is the one that failed */
        LLVMFuzzerTestOneInput(exact, data.len);
        free(exact);
        buf_release(&data);
    }
    return 0;
}
