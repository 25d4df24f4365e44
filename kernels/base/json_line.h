// A flat JSON object on one line, for machine-readable output.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <type_traits>

class json_line
{
  public:
    json_line &add(const char *key, const std::string &value)
    {
        open(key);
        text_ += '"';
        for (const char c : value) {
            char escaped[8];
            if (c == '"' || c == '\\')
                text_ += '\\';
            if (static_cast<unsigned char>(c) < 0x20) {
                std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
                text_ += escaped;
            } else {
                text_ += c;
            }
        }
        text_ += '"';
        return *this;
    }
    json_line &add(const char *key, const char *value)
    {
        return add(key, std::string(value));
    }
    json_line &add(const char *key, bool value)
    {
        open(key);
        text_ += value ? "true" : "false";
        return *this;
    }
    // JSON has no NaN or infinity: a value that is not finite becomes null.
    json_line &add(const char *key, double value)
    {
        char digits[40];
        open(key);
        std::snprintf(digits, sizeof digits, "%.9g", value);
        text_ += std::isfinite(value) ? digits : "null";
        return *this;
    }
    template <typename Integer>
    std::enable_if_t<std::is_integral<Integer>::value, json_line &> add(const char *key, Integer value)
    {
        open(key);
        text_ += std::to_string(value);
        return *this;
    }
    std::string str() const
    {
        return "{" + text_ + "}";
    }

  private:
    void open(const char *key)
    {
        text_ += text_.empty() ? "\"" : ", \"";
        text_ += key;
        text_ += "\": ";
    }

    std::string text_;
};
