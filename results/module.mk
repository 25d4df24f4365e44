# results: the store. The SQL files of schemas/ and the mappings of maps/ are compiled in, so that the command needs no
# data files.
results_rooms   := query ingest ingest/bundle ingest/b3_89 ingest/import ingest/draft ingest/text judge judge/nights judge/causes judge/search store stats
results_sources := $(wildcard results/*.c $(results_rooms:%=results/%/*.c))
$(eval $(call library,results,$(results_sources)))
migrations_sql := $(sort $(wildcard schemas/sql/[0-9]*.sql))
maps_json      := $(sort $(wildcard results/ingest/import/maps/*.json))
results_made   := $(addprefix $(BUILD)/results/,store/migrations.o ingest/import/maps.o)

$(BUILD)/results/store/migrations.c: results/store/embed-sql $(migrations_sql)
	@mkdir -p $(@D)
	$(call say,SQL,$@)
	$(Q)results/store/embed-sql $(migrations_sql) > $@

$(BUILD)/results/ingest/import/maps.c: results/ingest/import/embed-maps $(maps_json)
	@mkdir -p $(@D)
	$(call say,MAPS,$@)
	$(Q)results/ingest/import/embed-maps $(maps_json) > $@

$(results_made): %.o: %.c $(BUILD)/.flags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

objects_all += $(results_made)
$(BUILD)/libresults.a: $(results_made)
