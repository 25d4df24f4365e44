// A GGUF file, mapped: its metadata by key, its tensors by name, and their bytes. Knows nothing of models.
// common/gguf reads and checks the tables; this class keeps them, and hands out views of the mapping, which
// live as long as it does. Whatever is wrong with the file is thrown as bad input, in one line that begins
// with the file's name. A file that somebody cuts short while it is open ends the process: that is how
// mappings are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

class gguf_file
{
  public:
    struct tensor {
        uint64_t listed_at; // in the table
        uint64_t offset;    // of the data in the file
        uint32_t n_dims, type;
        uint64_t ne[4]; // the contiguous dimension first
    };

    explicit gguf_file(const std::string &path);
    ~gguf_file();
    gguf_file(const gguf_file &) = delete;
    gguf_file &operator=(const gguf_file &) = delete;

    // Bad input: "<path>: <what>", on one line whatever the parts hold.
    [[noreturn]] void refuse(const std::string &what) const;

    // A value of another type than asked for is refused, and so is one that is not there; `has` asks first.
    bool has(const std::string &key) const;
    std::string text(const std::string &key) const;
    bool flag(const std::string &key) const;
    double real(const std::string &key) const;
    uint64_t number(const std::string &key, uint64_t least, uint64_t most) const;
    std::vector<std::string_view> strings(const std::string &key) const;
    std::vector<float> floats(const std::string &key) const;
    std::vector<int32_t> integers(const std::string &key) const;

    const std::map<std::string, tensor> &tensors() const
    {
        return tensors_;
    }
    const unsigned char *data() const
    {
        return data_;
    }
    uint64_t size() const
    {
        return size_;
    }

  private:
    struct value {
        int type, element; // enum gguf_type
        uint64_t count, offset;
        std::string text;
    };
    friend struct gguf_collector;

    void read_tables();
    void map_file();
    const value &find(const std::string &key, const char *wanted, bool right(int type)) const;
    const value &find_array(const std::string &key, int element, const char *wanted, uint64_t bytes) const;

    std::string path_;
    std::map<std::string, value> values_;
    std::map<std::string, tensor> tensors_;
    const unsigned char *data_ = nullptr;
    uint64_t size_ = 0;
};
