// model_bench DIR: how fast model files open. Writes its files to DIR and removes them. Host code only.
//   vocabulary  a byte-level vocabulary as large as Llama 3's, page cache warm: its tables and the
//               tokenizer (goal: less than 100 ms in total)
//   open        a model of 1 GiB, page cache cold: everything but the weights
//   load        its weights through the mapping, page cache cold
// Each is compared with read() of the same file under the same conditions. Prints medians of wall time, and
// of CPU time where the disk is not involved.
#include "base/failure.h"
#include "model/byte_letters.h"
#include "model/gguf_writer.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "model/tokenizer.h"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace
{
constexpr int rounds = 5;
constexpr uint32_t tokens_wanted = 128256, merges_wanted = 280147;

double seconds(clockid_t clock)
{
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

struct median_times {
    double wall, cpu; // seconds
};

// Medians of a few rounds; `prepare` runs before each one, untimed.
median_times median(const std::function<void()> &prepare, const std::function<void()> &work)
{
    double wall[rounds], cpu[rounds];
    for (int i = 0; i < rounds; i++) {
        prepare();
        const double wall_start = seconds(CLOCK_MONOTONIC), cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        work();
        wall[i] = seconds(CLOCK_MONOTONIC) - wall_start;
        cpu[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    }
    std::sort(wall, wall + rounds);
    std::sort(cpu, cpu + rounds);
    return {wall[rounds / 2], cpu[rounds / 2]};
}

// A different word of six letters for every number.
std::string word(uint32_t number)
{
    std::string text;
    for (int i = 0; i < 6; i++, number /= 26)
        text += static_cast<char>('a' + number % 26);
    return text;
}

void write_vocabulary(const std::string &path)
{
    const byte_letters letters;
    std::vector<std::string> tokens(letters.letter.begin(), letters.letter.end()), merges;
    while (tokens.size() < tokens_wanted)
        tokens.push_back(word(static_cast<uint32_t>(tokens.size())));
    while (merges.size() < merges_wanted) {
        const std::string joined = word(static_cast<uint32_t>(merges.size()) * 7919);
        merges.push_back(joined.substr(0, 3) + " " + joined.substr(3));
    }
    gguf_writer file(path);
    file.add_text("tokenizer.ggml.model", "gpt2");
    file.add_text("tokenizer.ggml.pre", "llama-bpe");
    file.add_strings("tokenizer.ggml.tokens", tokens);
    file.add_integers("tokenizer.ggml.token_type", std::vector<int32_t>(tokens.size(), 1));
    file.add_strings("tokenizer.ggml.merges", merges);
    file.add_number("tokenizer.ggml.bos_token_id", 0);
    file.add_number("tokenizer.ggml.eos_token_id", 0);
    file.write_tables();
    file.finish();
}

void write_gibibyte(const std::string &path)
{
    made_model model{"bench", {}, 1, TENSOR_F16, VOCABULARY_LLAMA};
    preset_shape("small", &model.shape);
    model.shape.layers = 47;
    make_model(model, path);
}

// Drops the file from the page cache, as far as the system complies.
void drop_from_cache(const std::string &path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

uint64_t read_all(const std::string &path)
{
    std::vector<unsigned char> buffer(1 << 20);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    uint64_t sum = 0;
    while (read(fd, buffer.data(), buffer.size()) > 0)
        sum += buffer[0];
    close(fd);
    return sum;
}

uint64_t touch_all(const std::string &path)
{
    const model_file model(path);
    model_tensors tensors = model.tensors();
    uint64_t sum = 0;
    for (const tensor_spec &spec : tensor_specs(model.shape())) {
        const tensor_view &view = tensor_at(tensors, spec);
        const auto *bytes = static_cast<const unsigned char *>(view.data);
        for (uint64_t at = 0; at < view.rows * tensor_row_bytes(view.type, view.cols); at += 4096)
            sum += bytes[at];
    }
    return sum;
}

void bench_vocabulary(const std::string &path)
{
    write_vocabulary(path);
    const auto nothing = [] {};
    uint64_t sum = 0;
    const median_times bytes = median(nothing, [&] { sum += read_all(path); });
    const median_times tables = median(nothing, [&] { const gguf_file file(path); });
    const median_times ready = median(nothing, [&] {
        const gguf_file file(path);
        const tokenizer k(file, tokens_wanted);
    });
    std::printf("vocabulary  %u tokens, %u merges, %.1f MB: read() %.1f ms\n", tokens_wanted, merges_wanted,
                static_cast<double>(gguf_file(path).size()) / 1e6, bytes.wall * 1e3);
    std::printf("  tables      %.1f ms, %.1f of CPU; ratio to read() %.1f\n", tables.wall * 1e3,
                tables.cpu * 1e3, tables.wall / bytes.wall);
    std::printf("  tokenizer   %.1f ms, %.1f of CPU, tables included; ratio to read() %.1f (aim: 100 ms; "
                "checksum %llu)\n",
                ready.wall * 1e3, ready.cpu * 1e3, ready.wall / bytes.wall,
                static_cast<unsigned long long>(sum));
    std::remove(path.c_str());
}

void bench_weights(const std::string &path)
{
    write_gibibyte(path);
    uint64_t sum = 0;
    const auto cold = [&] { drop_from_cache(path); };
    const double size = static_cast<double>(gguf_file(path).size());
    const median_times opened = median(cold, [&] { const model_file model(path); });
    const median_times mapped = median(cold, [&] { sum += touch_all(path); });
    const median_times read = median(cold, [&] { sum += read_all(path); });
    std::printf("open        %.2f GiB, all but the weights: %.1f ms, %.1f %% of the load\n", size / (1 << 30),
                opened.wall * 1e3, 100 * opened.wall / mapped.wall);
    std::printf("load        through the mapping %.2f s (%.2f GB/s, %.2f s of CPU), read() %.2f s (%.2f "
                "GB/s): ratio %.2f "
                "(checksum %llu)\n",
                mapped.wall, size / mapped.wall / 1e9, mapped.cpu, read.wall, size / read.wall / 1e9,
                mapped.wall / read.wall, static_cast<unsigned long long>(sum));
    std::remove(path.c_str());
}

int bench(int argc, char **argv)
{
    if (argc != 2)
        bad_input("usage: model_bench DIR");
    const std::string folder = argv[1];
    bench_vocabulary(folder + "/vocabulary.gguf");
    bench_weights(folder + "/model.gguf");
    return EXIT_OK;
}
} // namespace

int main(int argc, char **argv)
{
    return run_program("model_bench", bench, argc, argv);
}
