# tests: unit programs (one per module, cmocka), helper programs of the scripts (tools/), simulated nights
# (simulation/, linked into test_simulation and scripts/bench/judging), then the scripts in
# integration/ and faults/. All print TAP; tests/run counts the results and prints a summary line.
unit_sources  := $(wildcard tests/unit/test_*.c)
tool_sources  := $(wildcard tests/tools/*.c)
unit_programs := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit_sources))
tool_programs := $(patsubst tests/tools/%.c,$(BUILD)/tests/%,$(tool_sources))
unit_main     := $(call objects,tests/unit/unit.c)
objects_all   += $(call objects,$(unit_sources) $(tool_sources)) $(unit_main)
simulation    := $(call objects,$(wildcard tests/simulation/*.c))
objects_all   += $(simulation)
test_libs     := $(addprefix $(BUILD)/lib,harness.a executor.a reports.a results.a common.a)
test_link     := $(harness_link) -lz -lzstd

# A unit program's own code runs for milliseconds; to optimise it would take longer.
$(call objects,$(unit_sources)): private CFLAGS += -O0

$(addprefix $(BUILD)/tests/test_simulation,_rules _series) $(BUILD)/tests/test_simulation: $(simulation)
$(unit_programs): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(unit_main) $(test_libs)
$(tool_programs): $(BUILD)/tests/%: $(BUILD)/tests/tools/%.o $(test_libs)
$(unit_programs) $(tool_programs):
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(test_link) $(linked)

# `test` installs missing packages first and then runs make again, because the makefiles call pkg-config when they are read.
.PHONY: unit test_programs check test
unit: $(unit_programs)
	$(Q)tests/run --build $(BUILD) unit
test_programs: all $(unit_programs) $(tool_programs)
check: test_programs
	$(Q)tests/run --build $(BUILD) $(if $(SINCE),--since $(SINCE)) unit integration faults
test:
	$(Q)scripts/install-deps build test
	$(Q)+$(parallel_make) check

include tests/fuzz/module.mk
check: $(fuzz_replays)
