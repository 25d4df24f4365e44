# harness: the command `kernsweep`.
PKGS += ncursesw yaml-0.1
harness_rooms   := $(addprefix commands/,base store compare run measure plan nightly) nightly watch session ssh transport plan propose git
harness_sources := $(wildcard harness/*.c $(harness_rooms:%=harness/%/*.c))
$(eval $(call library,harness,$(filter-out harness/main.c,$(harness_sources))))
objects_all += $(call objects,harness/main.c)
programs += $(BUILD)/kernsweep
harness_libs := $(BUILD)/libharness.a $(BUILD)/libreports.a $(BUILD)/libresults.a $(BUILD)/libcommon.a
harness_link := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -liberty -lm -lpthread
$(BUILD)/kernsweep: $(call objects,harness/main.c) $(harness_libs)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(harness_link) $(linked)
