// The origin of a model and its tokens: a file with its vocabulary, or a preset, whose weights are generated
// on the device and whose prompt consists of seeded token ids. Throws bad input.
#pragma once

#include "model/model_file.h"
#include "model/tokenizer.h"
#include "model/weights.h"
#include "runner/model_options.h"

#include <memory>

class model_source
{
  public:
    explicit model_source(const model_options &options);

    const model_shape &shape() const
    {
        return shape_;
    }
    std::string name() const; // the preset, or the file name without its directory
    void fill(model_weights &weights) const;
    std::vector<uint32_t> prompt() const;
    // The answer as one line.
    std::string text(const std::vector<uint32_t> &ids) const;
    bool ends(uint32_t id) const
    {
        return words_ && words_->ends(id);
    }

  private:
    const model_options &options_;
    std::unique_ptr<model_file> file_;
    std::unique_ptr<tokenizer> words_;
    model_shape shape_;
};
