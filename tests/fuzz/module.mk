# fuzz: `make fuzz` runs each target FUZZ_SECONDS with libFuzzer (clang); every `make check` replays the seeds.
FUZZ_SECONDS  ?= 60
fuzz_sources  := $(wildcard tests/fuzz/fuzz_*.c)
fuzz_names    := $(patsubst tests/fuzz/fuzz_%.c,%,$(fuzz_sources))
fuzz_replays  := $(addprefix $(BUILD)/tests/fuzz_,$(fuzz_names))
fuzz_programs := $(addprefix $(BUILD)/fuzz_,$(fuzz_names))
objects_all   += $(call objects,$(fuzz_sources) tests/fuzz/replay.c tests/fuzz/folder.c)

$(fuzz_replays): $(BUILD)/tests/%: $(BUILD)/tests/fuzz/%.o $(call objects,tests/fuzz/replay.c tests/fuzz/folder.c) $(test_libs)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(harness_link)
$(fuzz_programs): $(BUILD)/%: $(BUILD)/tests/fuzz/%.o $(call objects,tests/fuzz/folder.c) $(test_libs)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(harness_link)

# Everything again, with clang, its sanitizers and its coverage.
.PHONY: fuzz fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz:
	$(Q)+$(parallel_make) BUILD=$(BUILD)/fuzz CC=clang SANITIZE=address,undefined,fuzzer-no-link fuzz-programs
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(BUILD)/fuzz $(fuzz_names)
