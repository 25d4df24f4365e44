# results: the store. The SQL files of schemas/ are compiled in, so that the command needs no data files.
$(eval $(call library,results,$(wildcard results/*.c)))
migrations_sql := $(sort $(wildcard schemas/sql/[0-9]*.sql))

$(BUILD)/results/migrations.c: results/embed-sql $(migrations_sql)
	@mkdir -p $(@D)
	$(call say,SQL,$@)
	$(Q)results/embed-sql $(migrations_sql) > $@

$(BUILD)/results/migrations.o: $(BUILD)/results/migrations.c $(BUILD)/.flags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

objects_all += $(BUILD)/results/migrations.o
$(BUILD)/libresults.a: $(BUILD)/results/migrations.o
