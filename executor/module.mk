# executor: one binary without dependencies on the node. Static, except in sanitizer builds, which do not support it. Without
# debugging information, which is half of what nodes would receive, and hash on every connection.
executor_rooms   := commands run scheduler prepare suite node bundle telemetry process workdir code
executor_link    := -ljansson -lnettle -lpcre2-8 -lz -lzstd -liberty -lm
executor_sources := $(wildcard executor/*.c $(executor_rooms:%=executor/%/*.c))
$(eval $(call library,executor,$(filter-out executor/main.c,$(executor_sources))))
objects_all += $(call objects,executor/main.c)
programs += $(BUILD)/kernsweep-executor
$(BUILD)/kernsweep-executor: $(call objects,executor/main.c) $(BUILD)/libexecutor.a $(BUILD)/libcommon.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-static -Wl,--strip-debug) -o $@ $^ $(executor_link) $(linked)

# The NVML helper must be dynamic (see executor/telemetry/nvml.h); the executor embeds it.
nvml_helper := $(BUILD)/executor/telemetry/nvml_helper/helper
nvml_helper_parts := $(addprefix executor/telemetry/nvml_helper/,helper.c control.c)
$(nvml_helper): $(nvml_helper_parts) $(wildcard executor/telemetry/nvml_helper/*.h) $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) -s -pthread -o $@ $(nvml_helper_parts) -ldl
$(BUILD)/executor/telemetry/nvml.o: $(nvml_helper)
$(BUILD)/executor/telemetry/nvml.o: CPPFLAGS += -DNVML_HELPER='"$(nvml_helper)"'
