#include "runner/make_model_command.h"
#include "base/failure.h"
#include "model/make_model.h"
#include "runner/options.h"

namespace
{
const char usage[] =
    "prefill make-model --preset NAME -o FILE [options]: write a GGUF file with random weights\n"
    "  --preset NAME    tiny, small or llama2-7b: the shape (32 layers, 13 GB as f16)\n"
    "  -o FILE          replaced atomically if it exists\n"
    "  --seed N         of the weights, default 1\n"
    "  --type T         of the matrices: f32, f16, bf16, q8_0 or q4_0; default f32 for tiny, else f16\n"
    "  --vocabulary V   llama (default) or gpt2: the kind of vocabulary, trained on an embedded text\n";

tensor_type type_option(const std::string &text)
{
    const char *const names[tensor_type_count] = {"f32", "f16", "bf16", "q8_0", "q4_0"};
    for (int type = 0; type < tensor_type_count; type++)
        if (text == names[type])
            return static_cast<tensor_type>(type);
    bad_input("--type " + text + ": must be f32, f16, bf16, q8_0 or q4_0");
}

vocabulary_kind vocabulary_option(const std::string &text)
{
    if (text == "llama")
        return VOCABULARY_LLAMA;
    if (text == "gpt2")
        return VOCABULARY_GPT2;
    bad_input("--vocabulary " + text + ": must be llama or gpt2");
}
} // namespace

int make_model_command(int argc, char **argv)
{
    made_model model{"", {}, 1, TENSOR_F32, VOCABULARY_LLAMA};
    std::string path, type;
    arguments args(argc, argv);
    while (args.next()) {
        if (args.is("--preset"))
            model.name = args.text();
        else if (args.is("-o") || args.is("--output"))
            path = args.text();
        else if (args.is("--seed"))
            model.seed = args.seed();
        else if (args.is("--type"))
            type = args.text();
        else if (args.is("--vocabulary"))
            model.vocabulary = vocabulary_option(args.text());
        else if (args.is("--help")) {
            std::fputs(usage, stdout);
            return EXIT_OK;
        } else
            args.unknown();
    }
    if (!preset_shape(model.name.c_str(), &model.shape))
        bad_input("--preset " + (model.name.empty() ? "is missing" : model.name) +
                  ": choose tiny, small or llama2-7b");
    if (path.empty())
        bad_input("-o FILE is missing: see --help");
    model.type = type_option(!type.empty() ? type : model.name == "tiny" ? "f32" : "f16");
    make_model(model, path);
    return EXIT_OK;
}
