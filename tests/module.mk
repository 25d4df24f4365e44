# tests: unit programs (one a module, cmocka), then scripts of integration/ and faults/. All speak TAP;
# tests/run counts them and ends with one line.
unit_sources  := $(wildcard tests/unit/test_*.c)
unit_programs := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit_sources))
objects_all   += $(call objects,$(unit_sources))
test_libs := $(BUILD)/libharness.a $(BUILD)/libexecutor.a $(BUILD)/libreports.a $(BUILD)/libresults.a $(BUILD)/libcommon.a

$(BUILD)/tests/test_%: $(BUILD)/tests/unit/test_%.o $(test_libs)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(harness_link)

.PHONY: unit test
unit: $(unit_programs)
	$(Q)tests/run --build $(BUILD) unit
test: deps all $(unit_programs)
	$(Q)tests/run --build $(BUILD) unit integration faults
