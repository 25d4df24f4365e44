# results: the store. The SQL files of schemas/ and the mappings of maps/ are compiled in, so that the command needs no
# data files.
$(eval $(call library,results,$(wildcard results/*.c)))
migrations_sql := $(sort $(wildcard schemas/sql/[0-9]*.sql))
maps_json      := $(sort $(wildcard results/maps/*.json))
results_made   := $(addprefix $(BUILD)/results/,migrations.o maps.o)

$(BUILD)/results/migrations.c: results/embed-sql $(migrations_sql)
	@mkdir -p $(@D)
	$(call say,SQL,$@)
	$(Q)results/embed-sql $(migrations_sql) > $@

$(BUILD)/results/maps.c: results/embed-maps $(maps_json)
	@mkdir -p $(@D)
	$(call say,MAPS,$@)
	$(Q)results/embed-maps $(maps_json) > $@

$(results_made): %.o: %.c $(BUILD)/.flags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

objects_all += $(results_made)
$(BUILD)/libresults.a: $(results_made)
