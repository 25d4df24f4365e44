#include "model/gguf_file.h"
#include "base/failure.h"

extern "C" {
#include "common/base/text.h"
#include "common/gguf/gguf.h"
}

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace
{
bool is_text(int type)
{
    return type == GGUF_STRING;
}

bool is_flag(int type)
{
    return type == GGUF_BOOL;
}

bool is_real(int type)
{
    return type == GGUF_F32 || type == GGUF_F64;
}

bool is_whole(int type)
{
    return type != GGUF_BOOL && type != GGUF_STRING && type != GGUF_ARRAY && !is_real(type);
}

bool is_array(int type)
{
    return type == GGUF_ARRAY;
}

// Makes the text one line that is safe for a terminal.
std::string printable(const std::string &text)
{
    std::vector<char> clean(2048);
    text_printable_fixed(clean.data(), clean.size(), text.data(), text.size());
    return clean.data();
}
} // namespace

// The callbacks of common/gguf. They must not throw through C, so they report by struct err.
struct gguf_collector {
    static int entry(const gguf_entry *e, void *arg, err *error)
    {
        auto &file = *static_cast<gguf_file *>(arg);
        const gguf_file::value v{e->type, e->element, e->count, e->offset, e->text};
        if (!file.values_.emplace(e->key, v).second)
            return err_set(error, ERR_INPUT, "%s: offset %llu: duplicate key %s", file.path_.c_str(),
                           static_cast<unsigned long long>(e->offset), e->key);
        return 0;
    }
    static int tensor(const gguf_tensor *t, void *arg, err *error)
    {
        auto &file = *static_cast<gguf_file *>(arg);
        gguf_file::tensor info{t->listed_at, t->offset, t->n_dims, t->type, {}};
        std::copy(t->ne, t->ne + 4, info.ne);
        if (!file.tensors_.emplace(t->name, info).second)
            return err_set(error, ERR_INPUT, "%s: offset %llu: duplicate tensor %s", file.path_.c_str(),
                           static_cast<unsigned long long>(t->listed_at), t->name);
        return 0;
    }
};

gguf_file::gguf_file(const std::string &path) : path_(path)
{
    read_tables();
    map_file();
}

gguf_file::~gguf_file()
{
    if (data_)
        munmap(const_cast<unsigned char *>(data_), size_);
}

void gguf_file::refuse(const std::string &what) const
{
    bad_input(printable(path_ + ": " + what));
}

void gguf_file::read_tables()
{
    const auto reader = std::make_unique<gguf>();
    err error{};
    if (gguf_open(reader.get(), path_.c_str(), false, &error) != 0)
        bad_input(error.msg);
    const int rc = gguf_each(reader.get(), gguf_collector::entry, this, &error) ||
                   gguf_each_tensor(reader.get(), gguf_collector::tensor, this, &error);
    size_ = reader->size;
    gguf_close(reader.get());
    if (rc != 0)
        bad_input(error.msg);
}

void gguf_file::map_file()
{
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat now {
    };
    if (fd < 0 || fstat(fd, &now) != 0 || static_cast<uint64_t>(now.st_size) != size_) {
        if (fd >= 0)
            close(fd);
        refuse("the file changed while it was read: is it still being written?");
    }
    void *data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int failed = data == MAP_FAILED ? errno : 0;
    close(fd);
    if (failed)
        refuse(std::string("cannot map it: ") + std::strerror(failed));
    data_ = static_cast<const unsigned char *>(data);
}

bool gguf_file::has(const std::string &key) const
{
    return values_.count(key) != 0;
}

const gguf_file::value &gguf_file::find(const std::string &key, const char *wanted,
                                        bool right(int type)) const
{
    const auto found = values_.find(key);
    if (found == values_.end())
        refuse("no metadata key " + key + " (" + wanted + "): not a supported model");
    if (!right(found->second.type))
        refuse("offset " + std::to_string(found->second.offset) + ": " + key + " is of type " +
               gguf_type_name(static_cast<gguf_type>(found->second.type)) + ", not " + wanted);
    return found->second;
}

std::string gguf_file::text(const std::string &key) const
{
    return find(key, "a string", is_text).text;
}

bool gguf_file::flag(const std::string &key) const
{
    return find(key, "a bool", is_flag).text == "true";
}

double gguf_file::real(const std::string &key) const
{
    return std::strtod(find(key, "a floating-point number", is_real).text.c_str(), nullptr);
}

uint64_t gguf_file::number(const std::string &key, uint64_t least, uint64_t most) const
{
    const value &v = find(key, "a whole number", is_whole);
    const uint64_t n = std::strtoull(v.text.c_str(), nullptr, 10);
    if (v.text[0] == '-' || n < least || n > most)
        refuse("offset " + std::to_string(v.offset) + ": " + key + " is " + v.text + ", not in " +
               std::to_string(least) + ".." + std::to_string(most));
    return n;
}

// Finds an array whose elements take at least `bytes` each, which bounds what the caller allocates.
const gguf_file::value &gguf_file::find_array(const std::string &key, int element, const char *wanted,
                                              uint64_t bytes) const
{
    const value &v = find(key, wanted, is_array);
    const auto has = static_cast<gguf_type>(v.element);
    if (v.element != element && !(element == GGUF_I32 && has == GGUF_U32))
        refuse("offset " + std::to_string(v.offset) + ": " + key + " is an array of " + gguf_type_name(has) +
               ", not " + wanted);
    if (v.count > (size_ - v.offset) / bytes)
        refuse("offset " + std::to_string(v.offset) + ": " + key + " is longer than the file");
    return v;
}

std::vector<std::string_view> gguf_file::strings(const std::string &key) const
{
    const value &v = find_array(key, GGUF_STRING, "an array of strings", sizeof(uint64_t));
    std::vector<std::string_view> list;
    list.reserve(v.count);
    uint64_t at = v.offset;
    for (uint64_t i = 0; i < v.count; i++) {
        uint64_t len = 0;
        if (size_ - at >= sizeof len) // the table was checked; the file may have changed since
            std::memcpy(&len, data_ + at, sizeof len);
        if (size_ - at < sizeof len || len > size_ - at - sizeof len)
            refuse("offset " + std::to_string(at) + ": a string of " + key + " is longer than the file");
        list.emplace_back(reinterpret_cast<const char *>(data_) + at + sizeof len, len);
        at += sizeof len + len;
    }
    return list;
}

template <typename T>
std::vector<T> gguf_file::array(const std::string &key, int element, const char *wanted) const
{
    const value &v = find_array(key, element, wanted, sizeof(T));
    std::vector<T> list(v.count);
    if (v.count)
        std::memcpy(list.data(), data_ + v.offset, v.count * sizeof(T));
    return list;
}

std::vector<float> gguf_file::floats(const std::string &key) const
{
    return array<float>(key, GGUF_F32, "an array of f32");
}

std::vector<int32_t> gguf_file::integers(const std::string &key) const
{
    return array<int32_t>(key, GGUF_I32, "an array of i32");
}
