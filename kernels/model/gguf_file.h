// A memory-mapped GGUF file: metadata by key, tensors by name, and their bytes. Knows nothing of models.
// common/gguf reads and checks the tables; this class keeps them, and returns views of the mapping, which are
// valid as long as the object. Errors in the file are thrown as bad input: one line that begins with the
// file's name. If the file is truncated while it is open, accessing the mapping terminates the process
// (SIGBUS).
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
        uint64_t listed_at; // offset of its entry in the table
        uint64_t offset;    // of its data in the file
        uint32_t n_dims, type;
        uint64_t ne[4]; // the contiguous dimension first
    };

    explicit gguf_file(const std::string &path);
    ~gguf_file();
    gguf_file(const gguf_file &) = delete;
    gguf_file &operator=(const gguf_file &) = delete;

    // Throws bad input: "<path>: <what>", sanitised to one line.
    [[noreturn]] void refuse(const std::string &what) const;

    // Refuses missing keys and values of another type; use has() for optional keys.
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
    template <typename T> std::vector<T> array(const std::string &key, int element, const char *wanted) const;

    std::string path_;
    std::map<std::string, value> values_;
    std::map<std::string, tensor> tensors_;
    const unsigned char *data_ = nullptr;
    uint64_t size_ = 0;
};
