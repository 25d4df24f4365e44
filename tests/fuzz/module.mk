# fuzz: `make fuzz` runs each target for FUZZ_SECONDS with libFuzzer (clang), `make fuzz-keep` keeps what that learned, and every
# `make check` replays the seeds and what was kept.
FUZZ_SECONDS  ?= 60
fuzz_sources  := $(wildcard tests/fuzz/fuzz_*.c)
# These are C++, like the code they fuzz: the parts of kernels/model that read files and text.
model_fuzzers := $(patsubst tests/fuzz/fuzz_%.cpp,%,$(wildcard tests/fuzz/fuzz_*.cpp))
fuzz_names    := $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_sources)) $(model_fuzzers)
fuzz_replays  := $(addprefix $(BUILD)/tests/fuzz_,$(fuzz_names))
fuzz_programs := $(addprefix $(BUILD)/fuzz_,$(fuzz_names))
objects_all   += $(call objects,$(fuzz_sources) tests/fuzz/replay.c tests/fuzz/folder.c)

$(fuzz_replays): $(BUILD)/tests/%: $(BUILD)/tests/fuzz/%.o $(call objects,tests/fuzz/replay.c tests/fuzz/folder.c) $(test_libs)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(test_link) $(linked)
$(fuzz_programs): $(BUILD)/%: $(BUILD)/tests/fuzz/%.o $(call objects,tests/fuzz/folder.c) $(test_libs)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(test_link)

model_parts   := exact_prompt gguf_file gguf_writer merges model_file pretokenize shape tensor tokenizer vocabulary
model_objects := $(patsubst %,$(BUILD)/kernels/model/%.o,$(model_parts))
objects_all   += $(model_objects) $(patsubst %,$(BUILD)/tests/fuzz/fuzz_%.o,$(model_fuzzers))
fuzz_cxx      := $(if $(findstring clang,$(CC)),clang++,g++)
fuzz_cxxflags  = $(filter-out -std=% -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wshadow,$(CFLAGS)) -std=c++17
model_linked  := $(foreach name,$(model_fuzzers),$(BUILD)/tests/fuzz_$(name) $(BUILD)/fuzz_$(name))
$(model_linked): $(model_objects)
$(model_linked): private override CC = $(fuzz_cxx)
$(BUILD)/%.o: %.cpp $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(fuzz_cxx) -Ikernels $(CPPFLAGS) -DKS_PLATFORM_CPU $(fuzz_cxxflags) -MMD -MP -c -o $@ $<

# Builds everything again with clang, its sanitizers and its coverage instrumentation. `all` is for CI, where this is the build with
# the other compiler.
.PHONY: fuzz fuzz-keep fuzz-programs
fuzz-programs: all $(fuzz_programs)
fuzz:
	$(Q)+$(parallel_make) BUILD=$(BUILD)/fuzz CC=clang SANITIZE=address,undefined,fuzzer-no-link fuzz-programs
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(BUILD)/fuzz $(fuzz_names)
fuzz-keep:
	$(Q)tests/fuzz/keep $(BUILD)/fuzz $(fuzz_names)
