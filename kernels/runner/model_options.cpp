#include "runner/model_options.h"
#include "base/failure.h"

#include <cstdlib>
#include <cstring>

const char model_usage[] =
    "prefill --model FILE.gguf | --synthetic PRESET [options]: load a model, prefill a prompt, decode "
    "greedily\n"
    "  --prompt TEXT, --prompt-file FILE   the prompt\n"
    "  --context N        a prompt of exactly N tokens instead\n"
    "  --max-tokens N     tokens to answer, default 1; the first is the prefill's\n"
    "  --greedy           take the most likely token each time: the only way there is\n"
    "  --attn NAME        as without a model\n"
    "  --dtype T          of weights and products: f32 (default), f16, bf16\n"
    "  --logits FILE      write the logits of every token of the prompt: rows of 32-bit floats\n"
    "  --seed N           of the synthetic weights, default 1\n"
    "  --chunk N          rows that go through a layer together, default 4096\n"
    "  --deterministic    the same input gives the same bits, whatever that costs\n"
    "  --ceiling          measure the library's rate on a large product too, and the share of it reached\n"
    "  --json             print the JSON object alone\n"
    "GRETA_MAX_SEQ_LEN=N refuses a longer prompt; without it, the model's own context length does.\n";

namespace
{
bool takes(arguments &args, model_options &o)
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

bool takes_number(arguments &args, model_options &o)
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

bool is_flag(arguments &args, model_options &o)
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

void check(const model_options &o)
{
    if (!o.model.empty() && !o.synthetic.empty())
        bad_input("--model and --synthetic exclude each other");
    const int prompts = o.has_prompt + !o.prompt_file.empty() + (o.context != 0);
    if (prompts == 0)
        bad_input("no prompt: --prompt, --prompt-file or --context gives one");
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
        if (!takes(args, o) && !takes_number(args, o) && !is_flag(args, o))
            args.unknown();
    }
    check(o);
    return o;
}
