# scripts: tasks of a checkout: install dependencies, demo, benchmarks, lint.
.PHONY: deps demo docs bench lint

# Uses all cores unless -j was given.
parallel_make = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	$(Q)scripts/install-deps build test gpu lint report browser
demo:
	$(Q)scripts/demo
# Writes the documentation as HTML pages to $(BUILD)/docs.
docs:
	$(Q)scripts/install-deps docs
	$(Q)scripts/docs-book $(BUILD)/docs
	@echo '$(BUILD)/docs/index.html'
lint:
	$(Q)BUILD=$(BUILD) scripts/lint

$(BUILD)/bench/sleeper: scripts/bench/sleeper.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -static -o $@ $<
$(BUILD)/bench/bundles: scripts/bench/bundles.c $(BUILD)/libresults.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $^ $(harness_link)
$(BUILD)/bench/index: scripts/bench/index.c $(BUILD)/libharness.a $(BUILD)/libreports.a $(BUILD)/libresults.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $^ $(harness_link)
$(BUILD)/bench/judging: $(BUILD)/scripts/bench/judging.o $(simulation) $(BUILD)/libresults.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(harness_link)
objects_all += $(BUILD)/scripts/bench/judging.o
bench: all $(BUILD)/bench/sleeper $(BUILD)/bench/bundles $(BUILD)/bench/index $(BUILD)/bench/judging $(BUILD)/tests/faultproxy $(BUILD)/tests/transport_probe
	$(Q)scripts/install-deps bench
	$(Q)ONLY="$(ONLY)" scripts/bench/all $(BUILD)

# Builds the AMD kernels with the compilers of every ROCm since 6.0, in separate Debian systems; needs root. WRITE=1 updates
# docs/kernels/compilers.md; CHECK_AMD=--old-mirror and other options are passed on.
.PHONY: check-amd
check-amd:
	$(Q)scripts/check-amd $(if $(WRITE),--write) $(CHECK_AMD)

# Follows docs/tutorial.md on a fresh Debian 12 and 13, from an empty system to its last command; needs root and the network.
.PHONY: check-tutorial
check-tutorial:
	$(Q)scripts/check-tutorial $(SUITES)

# Makes README's recording of a terminal and picture of a report; tests report when they are out of date.
.PHONY: pictures
pictures: all
	$(Q)scripts/install-deps build test report browser
	$(Q)scripts/record-demo $(BUILD)/kernsweep docs/demo.svg
	$(Q)scripts/picture-report $(BUILD)/kernsweep docs/report.png

# Makes many nightly runs with injected faults: NIGHTS=200 SEED=1; ONLY=17 repeats one of them (tests/soak).
.PHONY: soak
soak: all $(BUILD)/tests/faultproxy
	$(Q)tests/soak/soak --nights $(or $(NIGHTS),200) --seed $(or $(SEED),1) $(if $(ONLY),--only $(ONLY)) $(BUILD)
