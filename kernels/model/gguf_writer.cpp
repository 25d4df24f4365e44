#include "model/gguf_writer.h"
#include "base/failure.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace
{
// GGUF's value types, and its tensor types in the order of enum tensor_type.
enum { GGUF_U32 = 4, GGUF_I32 = 5, GGUF_F32 = 6, GGUF_BOOL = 7, GGUF_STRING = 8, GGUF_ARRAY = 9 };
constexpr uint32_t tensor_numbers[tensor_type_count] = {0, 1, 30, 8, 2};

constexpr uint64_t alignment = 32;

template <typename T> std::string raw(T value)
{
    return {reinterpret_cast<const char *>(&value), sizeof value};
}

std::string raw_string(const std::string &value)
{
    return raw<uint64_t>(value.size()) + value;
}

template <typename T> std::string raw_array(uint32_t type, const std::vector<T> &values)
{
    std::string array = raw(type) + raw<uint64_t>(values.size());
    for (const T value : values)
        array += raw(value);
    return array;
}

uint64_t aligned(uint64_t at)
{
    return (at + alignment - 1) / alignment * alignment;
}
} // namespace

gguf_writer::gguf_writer(const std::string &path)
    : path_(path), temporary_(path + ".tmp." + std::to_string(getpid())),
      file_(std::fopen(temporary_.c_str(), "wbx"))
{
    if (!file_)
        throw failure{EXIT_BAD_INPUT, path + ": cannot write it: " + std::strerror(errno)};
}

gguf_writer::~gguf_writer()
{
    if (!file_)
        return;
    std::fclose(file_);
    std::remove(temporary_.c_str());
}

void gguf_writer::fail(const char *doing) const
{
    throw failure{EXIT_FAILED, path_ + ": cannot " + doing + " it: " + std::strerror(errno)};
}

void gguf_writer::add(const std::string &key, uint32_t type, const std::string &value)
{
    metadata_ += raw_string(key) + raw(type) + value;
    entries_++;
}

void gguf_writer::add_text(const std::string &key, const std::string &value)
{
    add(key, GGUF_STRING, raw_string(value));
}

void gguf_writer::add_number(const std::string &key, uint32_t value)
{
    add(key, GGUF_U32, raw(value));
}

void gguf_writer::add_real(const std::string &key, float value)
{
    add(key, GGUF_F32, raw(value));
}

void gguf_writer::add_flag(const std::string &key, bool value)
{
    add(key, GGUF_BOOL, raw<uint8_t>(value));
}

void gguf_writer::add_strings(const std::string &key, const std::vector<std::string> &values)
{
    std::string array = raw<uint32_t>(GGUF_STRING) + raw<uint64_t>(values.size());
    for (const std::string &value : values)
        array += raw_string(value);
    add(key, GGUF_ARRAY, array);
}

void gguf_writer::add_floats(const std::string &key, const std::vector<float> &values)
{
    add(key, GGUF_ARRAY, raw_array(GGUF_F32, values));
}

void gguf_writer::add_integers(const std::string &key, const std::vector<int32_t> &values)
{
    add(key, GGUF_ARRAY, raw_array(GGUF_I32, values));
}

void gguf_writer::add_tensor(const std::string &name, tensor_type type, uint64_t rows, uint64_t cols)
{
    const uint32_t dims = rows > 1 ? 2 : 1;
    table_ += raw_string(name) + raw(dims) + raw(cols) + (dims > 1 ? raw(rows) : "");
    table_ += raw(tensor_numbers[type]) + raw(data_bytes_);
    data_bytes_ = aligned(data_bytes_ + rows * tensor_row_bytes(type, cols));
    tensors_++;
}

void gguf_writer::write_tables()
{
    const std::string head = "GGUF" + raw<uint32_t>(3) + raw(tensors_) + raw(entries_);
    write(head.data(), head.size());
    write(metadata_.data(), metadata_.size());
    write(table_.data(), table_.size());
}

void gguf_writer::begin_tensor()
{
    const char zeros[alignment] = {};
    write(zeros, aligned(at_) - at_);
}

void gguf_writer::write(const void *data, size_t bytes)
{
    if (std::fwrite(data, 1, bytes, file_) != bytes)
        fail("write");
    at_ += bytes;
}

void gguf_writer::finish()
{
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0)
        fail("write");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
        fail("rename");
    std::fclose(file_);
    file_ = nullptr;
}
