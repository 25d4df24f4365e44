#include "runner/check.h"
#include "base/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <thread>

namespace
{
// The budget of a check in fp64 multiply-adds: a few seconds on two cores.
constexpr double affordable = 2e9;

struct position {
    int batch, row, head;
};

struct sums {
    double difference = 0, reference = 0; // sums of squares
    double max_abs = 0, plain_max_abs = 0;
    size_t unwritten = 0, not_finite = 0;
    position first_bad = {-1, -1, -1};
};

float element(const std::vector<unsigned char> &data, size_t i, attn_dtype dtype)
{
    if (dtype == ATTN_F32) {
        float x;
        std::memcpy(&x, &data[i * 4], sizeof x);
        return x;
    }
    uint16_t half;
    std::memcpy(&half, &data[i * 2], sizeof half);
    return dtype == ATTN_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

float rounded(float x, attn_dtype dtype)
{
    switch (dtype) {
    case ATTN_F32:
        return x;
    case ATTN_F16:
        return f32_of_f16(f16_of_f32(x));
    case ATTN_BF16:
        return f32_of_bf16(bf16_of_f32(x));
    }
    return x;
}

// The largest error of rounding `x` to the nearest number, which is half a unit in the last place; 0 if `x`
// needs no rounding.
double largest_rounding(double x, attn_dtype dtype)
{
    if (rounded(static_cast<float>(x), dtype) == x)
        return 0;
    int exponent; // |x| is in [0.5, 1) * 2^exponent
    std::frexp(x, &exponent);
    switch (dtype) {
    case ATTN_F32:
        return std::ldexp(0.5, exponent - 24);
    case ATTN_F16:
        return std::ldexp(0.5, std::max(exponent - 11, -24));
    case ATTN_BF16:
        return std::ldexp(0.5, exponent - 8);
    }
    return 0;
}

bool is_poison(const std::vector<unsigned char> &data, size_t i, attn_dtype dtype)
{
    return std::memcmp(&data[i * dtype_bytes(dtype)], &poison_word, dtype_bytes(dtype)) == 0;
}

struct float_inputs {
    std::vector<float> q, k, v;
};

std::vector<float> to_floats(const std::vector<unsigned char> &data, attn_dtype dtype)
{
    std::vector<float> floats(data.size() / dtype_bytes(dtype));
    for (size_t i = 0; i < floats.size(); i++)
        floats[i] = element(data, i, dtype);
    return floats;
}

// Attention of one row: `real` in fp64, `plain` as a straightforward kernel in the tensors' precision.
class row_reference
{
  public:
    row_reference(const attn_args &args, const float_inputs &inputs) : args_(args), inputs_(inputs)
    {
    }
    void compute(const position &at);

    std::vector<double> real;
    std::vector<float> plain;

  private:
    double compute_scores(const position &at, int keys); // returns the largest

    const attn_args &args_;
    const float_inputs &inputs_;
    std::vector<double> scores_;
    std::vector<float> plain_scores_;
};

size_t query_at(const attn_shape &s, const position &at)
{
    return ((static_cast<size_t>(at.batch) * s.seq + at.row) * s.q_heads + at.head) * s.head_dim;
}

size_t key_at(const attn_shape &s, const position &at, int key)
{
    const int kv_head = at.head / (s.q_heads / s.kv_heads);
    return ((static_cast<size_t>(at.batch) * s.seq + key) * s.kv_heads + kv_head) * s.head_dim;
}

double row_reference::compute_scores(const position &at, int keys)
{
    const attn_shape &s = args_.shape;
    const float *q = &inputs_.q[query_at(s, at)];
    const double scale = 1.0 / std::sqrt(static_cast<double>(s.head_dim));
    double max = -INFINITY;
    scores_.resize(static_cast<size_t>(keys));
    plain_scores_.resize(static_cast<size_t>(keys));
    for (int key = 0; key < keys; key++) {
        double score = 0;
        float plain_score = 0;
        const float *k = &inputs_.k[key_at(s, at, key)];
        for (size_t d = 0; d < static_cast<size_t>(s.head_dim); d++) {
            score += static_cast<double>(q[d]) * k[d];
            plain_score += q[d] * k[d];
        }
        scores_[static_cast<size_t>(key)] = score * scale;
        plain_scores_[static_cast<size_t>(key)] = plain_score * args_.scale;
        max = std::max(max, score * scale);
    }
    return max;
}

void row_reference::compute(const position &at)
{
    const attn_shape &s = args_.shape;
    const int keys = s.causal ? at.row + 1 : s.seq;
    const auto dims = static_cast<size_t>(s.head_dim);
    const double max = compute_scores(at, keys);
    double sum = 0;
    float plain_sum = 0;
    real.assign(dims, 0.0);
    plain.assign(dims, 0.0f);
    for (int key = 0; key < keys; key++) {
        const double p = std::exp(scores_[static_cast<size_t>(key)] - max);
        const float plain_p = std::exp(plain_scores_[static_cast<size_t>(key)] - static_cast<float>(max));
        const float rounded_p = rounded(plain_p, s.dtype);
        const float *v = &inputs_.v[key_at(s, at, key)];
        sum += p;
        plain_sum += plain_p;
        for (size_t d = 0; d < dims; d++) {
            real[d] += p * v[d];
            plain[d] += rounded_p * v[d];
        }
    }
    for (size_t d = 0; d < dims; d++) {
        real[d] /= sum;
        plain[d] = rounded(plain[d] / plain_sum, s.dtype);
    }
}

void judge_row(const attn_shape &s, const tensors::host_copy &host, const position &at,
               const row_reference &row, sums &total)
{
    for (size_t d = 0; d < row.real.size(); d++) {
        const size_t i = query_at(s, at) + d;
        const double got = element(host.o, i, s.dtype);
        const bool unwritten = is_poison(host.o, i, s.dtype);
        if (unwritten || !std::isfinite(got)) {
            total.unwritten += unwritten;
            total.not_finite += !unwritten;
            if (total.first_bad.row < 0)
                total.first_bad = at;
            continue;
        }
        const double difference = got - row.real[d];
        total.difference += difference * difference;
        total.reference += row.real[d] * row.real[d];
        total.max_abs = std::max(total.max_abs, std::fabs(difference));
        // By luck, the plain attention may lose less in the checked rows than in others.
        total.plain_max_abs = std::max({total.plain_max_abs, std::fabs(row.plain[d] - row.real[d]),
                                        largest_rounding(row.real[d], s.dtype)});
    }
}

std::vector<int> rows_to_check(const attn_shape &s, uint64_t seed)
{
    const double heads = static_cast<double>(s.batch) * s.q_heads;
    const double row_cost = heads * s.seq * s.head_dim * (s.causal ? 1.0 : 2.0);
    const double wanted = std::clamp(affordable / row_cost, 16.0, 1e9);
    std::set<int> rows;
    if (wanted >= s.seq) {
        for (int row = 0; row < s.seq; row++)
            rows.insert(rows.end(), row);
    }
    for (const int row :
         {0, 1, 31, 32, 63, 64, 65, 127, 128, s.seq / 2, s.seq - 65, s.seq - 64, s.seq - 2, s.seq - 1}) {
        if (row >= 0 && row < s.seq)
            rows.insert(row);
    }
    uint64_t state = seed;
    while (static_cast<double>(rows.size()) < std::min<double>(wanted, s.seq)) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        rows.insert(static_cast<int>((state >> 33) % static_cast<uint64_t>(s.seq)));
    }
    return {rows.begin(), rows.end()};
}

void merge_sums(sums &total, const sums &part)
{
    total.difference += part.difference;
    total.reference += part.reference;
    total.max_abs = std::max(total.max_abs, part.max_abs);
    total.plain_max_abs = std::max(total.plain_max_abs, part.plain_max_abs);
    total.unwritten += part.unwritten;
    total.not_finite += part.not_finite;
    if (total.first_bad.row < 0)
        total.first_bad = part.first_bad;
}

// Counts unwritten and non-finite elements of the whole output, not only of the sampled rows.
void count_everywhere(const attn_shape &s, const tensors::host_copy &host, sums &total)
{
    total.unwritten = total.not_finite = 0;
    for (size_t i = 0; i < query_elements(s); i++) {
        const bool unwritten = is_poison(host.o, i, s.dtype);
        total.unwritten += unwritten;
        total.not_finite += !unwritten && !std::isfinite(element(host.o, i, s.dtype));
    }
}

size_t overwritten_guard(const attn_shape &s, const tensors::host_copy &host)
{
    size_t words = 0;
    for (size_t i = query_elements(s); i < host.o.size() / dtype_bytes(s.dtype); i++)
        words += !is_poison(host.o, i, s.dtype);
    return words;
}

template <typename... Values> std::string format(const char *pattern, Values... values)
{
    char text[256];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

std::string find_fault(const check_result &r, const sums &total, size_t guard, attn_dtype dtype)
{
    const double largest = 2 * r.plain_max_abs + (dtype == ATTN_F32 ? 1e-5 : 0.0);
    const position &at = total.first_bad;
    if (total.unwritten > 0)
        return format("%zu elements were never written (first checked: batch %d, row %d, head %d)",
                      total.unwritten, at.batch, at.row, at.head);
    if (total.not_finite > 0)
        return format("%zu elements are NaN or infinite (first checked: batch %d, row %d, head %d)",
                      total.not_finite, at.batch, at.row, at.head);
    if (guard > 0)
        return format("%zu elements after the end of the output were written", guard);
    if (!(r.rel_l2 <= check_tolerance(dtype)))
        return format("relative L2 error %.3g is beyond %.3g", r.rel_l2, check_tolerance(dtype));
    if (!(r.max_abs <= largest))
        return format("largest error %.3g is beyond %.3g, twice that of a plain attention", r.max_abs,
                      largest);
    return "";
}
} // namespace

double check_tolerance(attn_dtype dtype)
{
    switch (dtype) {
    case ATTN_F32:
        return 1e-5;
    case ATTN_F16:
        return 5e-4;
    case ATTN_BF16:
        return 4e-3;
    }
    return 0;
}

check_result check_output(const attn_args &args, const tensors::host_copy &host, uint64_t seed)
{
    const attn_shape &s = args.shape;
    const std::vector<int> rows = rows_to_check(s, seed);
    std::vector<position> positions;
    for (int batch = 0; batch < s.batch; batch++) {
        for (const int row : rows) {
            for (int head = 0; head < s.q_heads; head++)
                positions.push_back({batch, row, head});
        }
    }
    const size_t workers = std::max(1u, std::thread::hardware_concurrency());
    const float_inputs inputs{to_floats(host.q, s.dtype), to_floats(host.k, s.dtype),
                              to_floats(host.v, s.dtype)};
    std::vector<sums> parts(workers);
    std::vector<std::thread> threads;
    for (size_t worker = 0; worker < workers; worker++) {
        threads.emplace_back([&, worker] {
            row_reference row(args, inputs);
            for (size_t i = worker; i < positions.size(); i += workers) {
                row.compute(positions[i]);
                judge_row(s, host, positions[i], row, parts[worker]);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();

    sums total;
    for (const sums &part : parts)
        merge_sums(total, part);
    count_everywhere(s, host, total);
    check_result result{std::sqrt(total.difference / total.reference), total.max_abs, total.plain_max_abs,
                        positions.size(), ""};
    result.wrong = find_fault(result, total, overwritten_guard(s, host), s.dtype);
    return result;
}
