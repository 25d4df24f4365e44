/* A model file, whole: its tables, shape and tensors, the rows at both ends of each, and its vocabulary with
 * some text. Whatever is wrong is one line and bad input; whatever opens can be read and can encode. */
#include "base/failure.h"
#include "model/model_file.h"
#include "model/tokenizer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

extern "C" {
#include "tests/fuzz/fuzz.h"
}

static void read_tensors(const model_file &model)
{
    model_tensors tensors = model.tensors();
    fuzz_check(shape_problem(model.shape()).empty());
    for (const tensor_spec &spec : tensor_specs(model.shape())) {
        const tensor_view &view = tensor_at(tensors, spec);
        fuzz_check(view.rows == spec.rows && view.cols == spec.cols);
        std::vector<float> row(view.cols);
        tensor_to_f32(view, 0, 1, row.data());
        tensor_to_f32(view, view.rows - 1, 1, row.data());
    }
}

static void read_vocabulary(const gguf_file &file, uint32_t vocab)
{
    const tokenizer k(file, vocab);
    fuzz_check(k.size() == vocab);
    for (const uint32_t id : k.encode("A text, it's 12345 bytes \xc3\xa9\n\n  of <s> \xff\xf0\x9f"))
        fuzz_check(id < vocab);
    for (uint32_t id = 0; id < vocab && id < 300; id++)
        k.piece(id);
    fuzz_check(k.exact_prompt(20).ids.size() == 20);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    const int fd = fuzz_file(data, size, path);
    try {
        const gguf_file file(path); // a vocabulary alone is a file too
        if (file.has("tokenizer.ggml.tokens"))
            read_vocabulary(file, static_cast<uint32_t>(file.strings("tokenizer.ggml.tokens").size()));
        const model_file model(path);
        read_tensors(model);
    } catch (const failure &f) {
        fuzz_check(f.code == EXIT_BAD_INPUT && !f.message.empty());
        fuzz_check(f.message.find('\n') == std::string::npos);
        fuzz_check_text(f.message.data(), f.message.size());
    }
    close(fd);
    return 0;
}
