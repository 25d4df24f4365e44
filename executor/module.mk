# executor: one binary that needs nothing on the node. Static, but for sanitizer builds, which cannot be.
$(eval $(call library,executor,$(filter-out executor/main.c,$(wildcard executor/*.c))))
objects_all += $(call objects,executor/main.c)
programs += $(BUILD)/kernsweep-executor
$(BUILD)/kernsweep-executor: $(call objects,executor/main.c) $(BUILD)/libexecutor.a $(BUILD)/libcommon.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(if $(SANITIZE),,-static) -o $@ $^ -ljansson -lnettle -lm
