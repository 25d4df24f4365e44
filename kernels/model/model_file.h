// A model of the llama family in a GGUF file: its shape, and views of its tensors, which live as long as it
// does. Everything is checked when it is opened: architecture, shape, every tensor's name, type, size and
// place. A tensor that this program would ignore is refused too, for its model would give other answers
// without it. Thrown as bad input: one line with file, tensor or key, and offset.
#pragma once

#include "model/gguf_file.h"
#include "model/shape.h"

class model_file
{
  public:
    explicit model_file(const std::string &path);

    const model_shape &shape() const
    {
        return shape_;
    }
    const model_tensors &tensors() const
    {
        return tensors_;
    }
    const gguf_file &file() const // for the tokenizer
    {
        return file_;
    }

  private:
    void read_shape();
    void read_rope();
    void read_tensors();
    tensor_view view(const tensor_spec &spec) const;
    void refuse_overlaps() const;
    void refuse_unknown() const;

    gguf_file file_;
    model_shape shape_{};
    model_tensors tensors_;
};
