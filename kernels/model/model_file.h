// A model of the llama family in a GGUF file: its shape, and views of its tensors, valid as long as the
// object. The constructor checks everything: architecture, shape, and every tensor's name, type, size and
// position. It also refuses tensors that this program would ignore, because the model would give other
// answers without them. Throws bad input: one line with file, tensor or key, and offset.
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
