// Writes GGUF files for tests by the format's specification, in its terms and order. Shares no code with the
// reader or with make-model, and lets tests write invalid files.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

class gguf_by_spec
{
  public:
    // The specification's value types.
    enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 };

    struct tensor {
        std::string name;
        std::vector<uint64_t> ne;
        uint32_t type;
        std::string data;
        int64_t misplaced_by = 0; // added to its offset in the table
    };

    explicit gguf_by_spec(uint32_t version_ = 3, uint32_t alignment_ = 32)
        : version(version_), alignment(alignment_)
    {
        if (alignment != 32)
            u32("general.alignment", alignment);
    }

    void raw(const std::string &key, uint32_t type, const std::string &value)
    {
        metadata += string(key) + number<uint32_t>(type) + value;
        entries++;
    }
    void text(const std::string &key, const std::string &value)
    {
        raw(key, STRING, string(value));
    }
    void u32(const std::string &key, uint32_t value)
    {
        raw(key, U32, number(value));
    }
    void f32(const std::string &key, float value)
    {
        raw(key, F32, number(value));
    }
    void flag(const std::string &key, bool value)
    {
        raw(key, BOOL, number<uint8_t>(value));
    }
    void strings(const std::string &key, const std::vector<std::string> &values)
    {
        std::string all = number<uint32_t>(STRING) + number<uint64_t>(values.size());
        for (const std::string &value : values)
            all += string(value);
        raw(key, ARRAY, all);
    }
    template <typename T> void numbers(const std::string &key, uint32_t type, const std::vector<T> &values)
    {
        std::string all = number<uint32_t>(type) + number<uint64_t>(values.size());
        for (const T value : values)
            all += number(value);
        raw(key, ARRAY, all);
    }

    std::string bytes() const
    {
        std::string file =
            "GGUF" + number(version) + number<uint64_t>(tensors.size()) + number(entries) + metadata;
        uint64_t offset = 0;
        for (const tensor &t : tensors) {
            file += string(t.name) + number<uint32_t>(static_cast<uint32_t>(t.ne.size()));
            for (const uint64_t n : t.ne)
                file += number(n);
            file += number(t.type) + number(offset + static_cast<uint64_t>(t.misplaced_by));
            offset = aligned(offset + t.data.size());
        }
        for (const tensor &t : tensors) {
            file.resize(aligned(file.size()));
            file += t.data;
        }
        return file;
    }

    template <typename T> static std::string number(T value)
    {
        return {reinterpret_cast<const char *>(&value), sizeof value};
    }
    static std::string string(const std::string &value)
    {
        return number<uint64_t>(value.size()) + value;
    }

    uint32_t version, alignment;
    std::string metadata;
    uint64_t entries = 0;
    std::vector<tensor> tensors;

  private:
    uint64_t aligned(uint64_t at) const
    {
        return (at + alignment - 1) / alignment * alignment;
    }
};

// A temporary file, removed by the destructor.
class temporary_file
{
  public:
    explicit temporary_file(const std::string &content)
    {
        static int made;
        const char *folder = std::getenv("TMPDIR");
        path = std::string(folder ? folder : "/tmp") + "/kernsweep-test-" + std::to_string(getpid()) + "-" +
               std::to_string(made++);
        std::FILE *file = std::fopen(path.c_str(), "wb");
        if (file) {
            std::fwrite(content.data(), 1, content.size(), file);
            std::fclose(file);
        }
    }
    ~temporary_file()
    {
        std::remove(path.c_str());
    }
    temporary_file(const temporary_file &) = delete;
    temporary_file &operator=(const temporary_file &) = delete;

    std::string path;
};
