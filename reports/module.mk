# reports: a read-only model and its renderers. The HTML page's style and script are compiled in.
PKGS += libcmark-gfm
reports_rooms   := sections plot tables model render words
reports_sources := $(wildcard reports/*.c $(reports_rooms:%=reports/%/*.c))
$(eval $(call library,reports,$(reports_sources)))
$(BUILD)/reports/render/html_page.o: reports/render/page.css reports/render/page.js

# Checks that the committed examples are what the command writes now.
.PHONY: check-examples examples
examples: all
	$(Q)reports/examples/generate $(BUILD)/kernsweep reports/examples
check-examples: all
	$(Q)tests/run --build $(BUILD) tests/integration/report_examples.sh
