// Writes a GGUF v3 file sequentially: metadata, the table of tensors, then their data, which may be larger
// than memory. Until finish() the file is called "<path>.tmp.<pid>" and is removed with the writer, so that
// an incomplete file never has the final name. Throws struct failure. Knows nothing of models.
#pragma once

#include "model/tensor.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

class gguf_writer
{
  public:
    explicit gguf_writer(const std::string &path);
    ~gguf_writer();
    gguf_writer(const gguf_writer &) = delete;
    gguf_writer &operator=(const gguf_writer &) = delete;

    void add_text(const std::string &key, const std::string &value);
    void add_number(const std::string &key, uint32_t value);
    void add_real(const std::string &key, float value);
    void add_flag(const std::string &key, bool value);
    void add_strings(const std::string &key, const std::vector<std::string> &values);
    void add_floats(const std::string &key, const std::vector<float> &values);
    void add_integers(const std::string &key, const std::vector<int32_t> &values);
    void add_tensor(const std::string &name, tensor_type type, uint64_t rows, uint64_t cols);

    // After the add_ calls: write_tables() once, then every tensor's data in the order they were added, each
    // as begin_tensor() and any number of write().
    void write_tables();
    void begin_tensor();
    void write(const void *data, size_t bytes);
    void finish();

  private:
    void add(const std::string &key, uint32_t type, const std::string &value);
    [[noreturn]] void fail(const char *doing) const;

    std::string path_, temporary_, metadata_, table_;
    uint64_t entries_ = 0, tensors_ = 0;
    uint64_t data_bytes_ = 0; // described by the table so far
    uint64_t at_ = 0;
    std::FILE *file_ = nullptr;
};
