/* Any text through both kinds of tokenizer, with vocabularies that make-model learns: the ids are the
 * vocabulary's, no more than a few a byte, and the text comes back. Words cover the text without gaps. */
#include "base/failure.h"
#include "model/gguf_writer.h"
#include "model/tokenizer.h"
#include "model/vocabulary.h"

#include <fcntl.h>
#include <memory>
#include <stdlib.h>
#include <sys/mman.h>

extern "C" {
#include "tests/fuzz/fuzz.h"
}

static constexpr uint32_t vocab = 1024;

struct learnt {
    explicit learnt(vocabulary_kind kind)
    {
        char path[FS_PATH_MAX];
        fuzz_check(fs_join(path, NULL, fuzz_folder(), kind == VOCABULARY_LLAMA ? "llama" : "gpt2") == 0);
        gguf_writer writer(path);
        add_vocabulary(writer, kind, vocab);
        writer.write_tables();
        writer.finish();
        file = std::make_unique<gguf_file>(path);
        k = std::make_unique<tokenizer>(*file, vocab);
    }
    std::unique_ptr<gguf_file> file;
    std::unique_ptr<tokenizer> k;
};

// The mark of a space is a character that a text may hold; then it comes back as a space.
static void there_and_back(const tokenizer &k, const std::string &text, bool has_marks)
{
    const std::vector<uint32_t> ids = k.encode(text);
    fuzz_check(ids.size() <= 3 * text.size() + 4);
    for (const uint32_t id : ids)
        fuzz_check(id < vocab);
    fuzz_check(has_marks || k.decode(ids) == text);
}

static void cuts_cover(pretokenizer kind, const std::string &text)
{
    size_t at = 0;
    for (const std::string_view word : pretokenize(kind, text)) {
        fuzz_check(!word.empty() && word.data() == text.data() + at);
        at += word.size();
    }
    fuzz_check(at == text.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const learnt llama(VOCABULARY_LLAMA), gpt2(VOCABULARY_GPT2);
    const std::string text(reinterpret_cast<const char *>(data), size);
    there_and_back(*llama.k, text, text.find("\xe2\x96\x81") != std::string::npos);
    there_and_back(*gpt2.k, text, false);
    cuts_cover(PRETOKENIZER_GPT2, text);
    cuts_cover(PRETOKENIZER_LLAMA3, text);
    return 0;
}
