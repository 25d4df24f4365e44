#include "tests/reference_forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
    char name[64];
    size_t rows, cols;
    double *w; /* w[row * cols + col] */
};

struct reference_model {
    size_t layers, width, heads, kv_heads, head_dim, ffn, vocab, rope_dims;
    double eps, rope_base, rope_scale;
    struct matrix *tensors;
    size_t n_tensors;
};

static void die(const char *what, const char *which)
{
    fprintf(stderr, "reference_forward: %s %s\n", what, which);
    exit(1);
}

static void *take_memory(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        die("no memory", "");
    return p;
}

/* ---- the file ---- */

struct reader {
    unsigned char *data;
    size_t size, at;
};

static void read_bytes(struct reader *r, void *out, size_t n)
{
    if (n > r->size - r->at)
        die("the file is too short", "");
    memcpy(out, r->data + r->at, n);
    r->at += n;
}

static uint64_t read_number(struct reader *r, size_t bytes)
{
    uint64_t n = 0;
    read_bytes(r, &n, bytes);
    return n;
}

static void read_string(struct reader *r, char *out, size_t cap)
{
    uint64_t len = read_number(r, 8);
    size_t keep = len < cap ? (size_t)len : cap - 1;
    size_t start = r->at;
    read_bytes(r, out, keep);
    out[keep] = '\0';
    r->at = start + len;
}

static void skip_value(struct reader *r, uint32_t type)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
        uint64_t len = read_number(r, 8);
        r->at += len;
    } else if (type == 9) {
        uint32_t element = (uint32_t)read_number(r, 4);
        uint64_t count = read_number(r, 8);
        for (uint64_t i = 0; i < count; i++)
            skip_value(r, element);
    } else {
        r->at += sizes[type];
    }
}

/* u32 and f32 are all that the numbers of a model need. */
static void read_value(struct reader *r, const char *key, struct reference_model *m)
{
    const struct {
        const char *key;
        size_t *whole;
        double *real;
    } wanted[] = {
        {"llama.block_count", &m->layers, NULL},
        {"llama.embedding_length", &m->width, NULL},
        {"llama.feed_forward_length", &m->ffn, NULL},
        {"llama.attention.head_count", &m->heads, NULL},
        {"llama.attention.head_count_kv", &m->kv_heads, NULL},
        {"llama.attention.key_length", &m->head_dim, NULL},
        {"llama.rope.dimension_count", &m->rope_dims, NULL},
        {"llama.attention.layer_norm_rms_epsilon", NULL, &m->eps},
        {"llama.rope.freq_base", NULL, &m->rope_base},
        {"llama.rope.scaling.factor", NULL, &m->rope_scale},
    };
    uint32_t type = (uint32_t)read_number(r, 4);
    size_t start = r->at;
    skip_value(r, type);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        float real;
        uint32_t whole;
        if (strcmp(key, wanted[i].key) != 0)
            continue;
        memcpy(&real, r->data + start, 4);
        memcpy(&whole, r->data + start, 4);
        if (wanted[i].real)
            *wanted[i].real = real;
        else
            *wanted[i].whole = whole;
    }
}

/* ---- the encodings ---- */

static double half_to_double(const unsigned char *at)
{
    unsigned bits = at[0] | (unsigned)at[1] << 8;
    double sign = bits & 0x8000u ? -1 : 1, mantissa = bits & 0x3ffu;
    int exponent = (int)(bits >> 10 & 0x1fu);
    if (exponent == 0)
        return sign * ldexp(mantissa, -24);
    return sign * ldexp(1024 + mantissa, exponent - 25);
}

static double bfloat_to_double(const unsigned char *at)
{
    uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 24;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static double float_to_double(const unsigned char *at)
{
    float x;
    memcpy(&x, at, 4);
    return x;
}

/* Element i of a tensor of ggml's type. */
static double element(const unsigned char *data, uint32_t type, size_t i)
{
    const unsigned char *block;
    switch (type) {
    case 0:
        return float_to_double(data + 4 * i);
    case 1:
        return half_to_double(data + 2 * i);
    case 30:
        return bfloat_to_double(data + 2 * i);
    case 8: /* 32 elements: a scale, 32 signed bytes */
        block = data + i / 32 * 34;
        return half_to_double(block) * (signed char)block[2 + i % 32];
    case 2: /* 32 elements: a scale, 16 bytes with element j below and element j + 16 above */
        block = data + i / 32 * 18;
        return half_to_double(block) *
               ((i % 32 < 16 ? block[2 + i % 32] & 15 : block[2 + i % 32 - 16] >> 4) - 8);
    default:
        die("a type that it does not know", "");
    }
    return 0;
}

struct listed {
    uint32_t type;
    uint64_t offset;
};

static void read_listed(struct reader *r, struct matrix *t, struct listed *where)
{
    read_string(r, t->name, sizeof t->name);
    uint64_t dims = read_number(r, 4);
    t->cols = read_number(r, 8);
    t->rows = dims > 1 ? read_number(r, 8) : 1;
    where->type = (uint32_t)read_number(r, 4);
    where->offset = read_number(r, 8);
}

static void decode(const struct reader *r, struct matrix *t, const struct listed *where, size_t base)
{
    size_t n = t->rows * t->cols;
    t->w = take_memory(n, sizeof *t->w);
    for (size_t i = 0; i < n; i++)
        t->w[i] = element(r->data + base + where->offset, where->type, i);
}

static struct reader read_file(const char *path)
{
    struct reader r = {0};
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        die("cannot read", path);
    r.size = (size_t)ftell(f);
    rewind(f);
    r.data = take_memory(r.size, 1);
    if (fread(r.data, 1, r.size, f) != r.size)
        die("cannot read", path);
    fclose(f);
    return r;
}

static void read_tensors(struct reader *r, struct reference_model *m, size_t alignment)
{
    struct listed *where = take_memory(m->n_tensors, sizeof *where);
    m->tensors = take_memory(m->n_tensors, sizeof *m->tensors);
    for (size_t i = 0; i < m->n_tensors; i++)
        read_listed(r, &m->tensors[i], &where[i]);
    size_t base = (r->at + alignment - 1) / alignment * alignment;
    for (size_t i = 0; i < m->n_tensors; i++)
        decode(r, &m->tensors[i], &where[i], base);
    free(where);
}

/* ---- the model ---- */

static const struct matrix *find(const struct reference_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_tensors; i++)
        if (strcmp(m->tensors[i].name, name) == 0)
            return &m->tensors[i];
    return NULL;
}

static const struct matrix *weight(const struct reference_model *m, size_t layer, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%zu.%s.weight", layer, part);
    const struct matrix *found = find(m, name);
    if (!found)
        die("no tensor", name);
    return found;
}

struct reference_model *reference_open(const char *path)
{
    struct reference_model *m = take_memory(1, sizeof *m);
    struct reader r = read_file(path);
    size_t alignment = 32;
    m->rope_base = 10000;
    m->rope_scale = 1;
    r.at = 8; /* after the magic and the version */
    m->n_tensors = read_number(&r, 8);
    uint64_t entries = read_number(&r, 8);
    for (uint64_t i = 0; i < entries; i++) {
        char key[256];
        read_string(&r, key, sizeof key);
        size_t start = r.at;
        read_value(&r, key, m);
        if (strcmp(key, "general.alignment") == 0)
            alignment = r.data[start + 4] | (size_t)r.data[start + 5] << 8;
    }
    read_tensors(&r, m, alignment);
    free(r.data);
    if (m->kv_heads == 0)
        m->kv_heads = m->heads;
    if (m->head_dim == 0)
        m->head_dim = m->width / m->heads;
    if (m->rope_dims == 0)
        m->rope_dims = m->head_dim;
    m->vocab = find(m, "token_embd.weight")->rows;
    return m;
}

void reference_close(struct reference_model *m)
{
    for (size_t i = 0; i < m->n_tensors; i++)
        free(m->tensors[i].w);
    free(m->tensors);
    free(m);
}

size_t reference_vocab(const struct reference_model *m)
{
    return m->vocab;
}

const double *reference_tensor(const struct reference_model *m, const char *name)
{
    const struct matrix *found = find(m, name);
    return found ? found->w : NULL;
}

/* y[n][rows] = x[n][cols] W^T */
static void multiply(const struct matrix *w, const double *x, size_t n, double *y)
{
    for (size_t t = 0; t < n; t++)
        for (size_t r = 0; r < w->rows; r++) {
            double sum = 0;
            for (size_t c = 0; c < w->cols; c++)
                sum += w->w[r * w->cols + c] * x[t * w->cols + c];
            y[t * w->rows + r] = sum;
        }
}

static void rms_norm(const struct matrix *factor, double eps, const double *x, size_t n, double *y)
{
    size_t width = factor->cols;
    for (size_t t = 0; t < n; t++) {
        double squares = 0;
        for (size_t i = 0; i < width; i++)
            squares += x[t * width + i] * x[t * width + i];
        double scale = 1 / sqrt(squares / (double)width + eps);
        for (size_t i = 0; i < width; i++)
            y[t * width + i] = x[t * width + i] * scale * factor->w[i];
    }
}

/* Turns each pair (2i, 2i + 1) of each head by position * base^(-2i / dims). */
static void rope(const struct reference_model *m, double *x, size_t n, size_t heads)
{
    for (size_t t = 0; t < n; t++)
        for (size_t h = 0; h < heads; h++)
            for (size_t i = 0; i < m->rope_dims; i += 2) {
                double *pair = x + (t * heads + h) * m->head_dim + i;
                double angle =
                    (double)t / m->rope_scale * pow(m->rope_base, -(double)i / (double)m->rope_dims);
                double a = pair[0], b = pair[1];
                pair[0] = a * cos(angle) - b * sin(angle);
                pair[1] = a * sin(angle) + b * cos(angle);
            }
}

/* One query of one head over the keys up to its own. */
static void attend(const double *q, const double *k, const double *v, size_t seen, size_t stride, size_t dim,
                   double *p, double *out)
{
    double most = -INFINITY, sum = 0;
    for (size_t s = 0; s < seen; s++) {
        p[s] = 0;
        for (size_t i = 0; i < dim; i++)
            p[s] += q[i] * k[s * stride + i];
        p[s] /= sqrt((double)dim);
        most = fmax(most, p[s]);
    }
    for (size_t s = 0; s < seen; s++)
        sum += p[s] = exp(p[s] - most);
    for (size_t i = 0; i < dim; i++) {
        out[i] = 0;
        for (size_t s = 0; s < seen; s++)
            out[i] += p[s] / sum * v[s * stride + i];
    }
}

/* x += Wo attention(norm(x)) */
static void attention_block(const struct reference_model *m, size_t layer, double *x, size_t n)
{
    size_t queries = m->heads * m->head_dim, keys = m->kv_heads * m->head_dim;
    double *normed = take_memory(n * m->width, sizeof *normed),
           *added = take_memory(n * m->width, sizeof *added);
    double *q = take_memory(n * queries, sizeof *q), *o = take_memory(n * queries, sizeof *o);
    double *k = take_memory(n * keys, sizeof *k), *v = take_memory(n * keys, sizeof *v);
    double *p = take_memory(n, sizeof *p);
    rms_norm(weight(m, layer, "attn_norm"), m->eps, x, n, normed);
    multiply(weight(m, layer, "attn_q"), normed, n, q);
    multiply(weight(m, layer, "attn_k"), normed, n, k);
    multiply(weight(m, layer, "attn_v"), normed, n, v);
    rope(m, q, n, m->heads);
    rope(m, k, n, m->kv_heads);
    for (size_t t = 0; t < n; t++)
        for (size_t h = 0; h < m->heads; h++) {
            size_t head = h / (m->heads / m->kv_heads) * m->head_dim, at = t * queries + h * m->head_dim;
            attend(q + at, k + head, v + head, t + 1, keys, m->head_dim, p, o + at);
        }
    multiply(weight(m, layer, "attn_output"), o, n, added);
    for (size_t i = 0; i < n * m->width; i++)
        x[i] += added[i];
    free(normed), free(added), free(q), free(o), free(k), free(v), free(p);
}

/* x += Wdown (silu(Wgate norm(x)) * Wup norm(x)) */
static void ffn_block(const struct reference_model *m, size_t layer, double *x, size_t n)
{
    double *normed = take_memory(n * m->width, sizeof *normed),
           *added = take_memory(n * m->width, sizeof *added);
    double *gate = take_memory(n * m->ffn, sizeof *gate), *up = take_memory(n * m->ffn, sizeof *up);
    rms_norm(weight(m, layer, "ffn_norm"), m->eps, x, n, normed);
    multiply(weight(m, layer, "ffn_gate"), normed, n, gate);
    multiply(weight(m, layer, "ffn_up"), normed, n, up);
    for (size_t i = 0; i < n * m->ffn; i++)
        gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    multiply(weight(m, layer, "ffn_down"), gate, n, added);
    for (size_t i = 0; i < n * m->width; i++)
        x[i] += added[i];
    free(normed), free(added), free(gate), free(up);
}

void reference_logits(const struct reference_model *m, const uint32_t *tokens, size_t n, double *logits)
{
    const struct matrix *embedding = find(m, "token_embd.weight"), *output = find(m, "output.weight");
    double *x = take_memory(n * m->width, sizeof *x), *normed = take_memory(n * m->width, sizeof *normed);
    for (size_t t = 0; t < n; t++)
        memcpy(x + t * m->width, embedding->w + tokens[t] * m->width, m->width * sizeof *x);
    for (size_t layer = 0; layer < m->layers; layer++) {
        attention_block(m, layer, x, n);
        ffn_block(m, layer, x, n);
    }
    rms_norm(find(m, "output_norm.weight"), m->eps, x, n, normed);
    multiply(output ? output : embedding, normed, n, logits);
    free(x), free(normed);
}
