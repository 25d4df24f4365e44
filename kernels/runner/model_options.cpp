#include "runner/model_options.h"
#include "base/failure.h"

#include <cstdlib>
#include <cstring>

const char model_usage[] =
    "prefill --model FILE.gguf | --synthetic PRESET [options]: load a model, prefill a prompt, decode "
    "greedily\n"
    "  --prompt TEXT, --prompt-file FILE   the prompt\n"
    "  --context N        a generated prompt of exactly N tokens instead\n"
    "  --max-tokens N     tokens to generate, default 1; the first comes from the prefill\n"
    "  --greedy           choose the most likely token each time (the only method)\n"
    "  --attn NAME        attention variant, as without a model\n"
    "  --dtype T          of weights and GEMMs: f32 (default), f16, bf16\n"
    "  --logits FILE      write the logits of every token of the prompt: rows of 32-bit floats\n"
    "  --seed N           of the synthetic weights, default 1\n"
    "  --chunk N          rows that a layer processes at a time; default 4096, or 16384 where GEMMs are "
    "fused\n"
    "  --deterministic    the same input gives the same bits, even if that is slower\n"
    "  --ceiling          also measure the rate of a large GEMM, at best and sustained, and the shares that\n"
    "                     were reached\n"
    "  --json             print only the JSON object\n"
    "GRETA_MAX_SEQ_LEN=N limits the prompt; the default is the model's context length.\n";

namespace
{
bool take_text(arguments &args, model_options &o)
{
    if (args.is("--model"))
        o.model = args.text();
    else if (args.is("--synthetic"))
        o.synthetic = args.text();
    else if (args.is("--prompt")) {
        o.prompt = args.text();
        o.has_prompt = true;
    } else if (args.is("--prompt-file"))
        o.prompt_file = args.text();
    else if (args.is("--attn"))
        o.attn = args.text();
    else if (args.is("--logits"))
        o.logits = args.text();
    else
        return false;
    return true;
}

bool take_number(arguments &args, model_options &o)
{
    if (args.is("--context"))
        o.context = args.number(1, 1 << 24);
    else if (args.is("--max-tokens"))
        o.max_tokens = args.number(1, 1 << 20);
    else if (args.is("--chunk"))
        o.chunk = args.number(1, 1 << 24);
    else if (args.is("--dtype"))
        o.dtype = dtype_option(args.text());
    else if (args.is("--seed"))
        o.seed = args.seed();
    else
        return false;
    return true;
}

bool take_flag(arguments &args, model_options &o)
{
    if (args.is("--json"))
        o.json = true;
    else if (args.is("--deterministic"))
        o.deterministic = true;
    else if (args.is("--ceiling"))
        o.ceiling = true;
    else
        return args.is("--greedy");
    return true;
}

void check_combination(const model_options &o)
{
    if (!o.model.empty() && !o.synthetic.empty())
        bad_input("--model and --synthetic exclude each other");
    const int prompts = o.has_prompt + !o.prompt_file.empty() + (o.context != 0);
    if (prompts == 0)
        bad_input("no prompt: use --prompt, --prompt-file or --context");
    if (prompts > 1)
        bad_input("--prompt, --prompt-file and --context exclude each other");
    if (!o.synthetic.empty() && o.context == 0)
        bad_input("--synthetic " + o.synthetic +
                  " has no vocabulary to read a text with: use --context, or --model");
}
} // namespace

bool asks_for_model(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        const std::string name = word.substr(0, word.find('='));
        if (name == "--model" || name == "--synthetic")
            return true;
    }
    return false;
}

model_options parse_model_options(int argc, char **argv)
{
    model_options o;
    arguments args(argc, argv);
    while (args.next()) {
        if (args.is("--help")) {
            std::fputs(model_usage, stdout);
            std::exit(EXIT_OK);
        }
        if (!take_text(args, o) && !take_number(args, o) && !take_flag(args, o))
            args.unknown();
    }
    check_combination(o);
    return o;
}
