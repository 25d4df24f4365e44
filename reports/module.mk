# reports: a read-only model and its renderers. The HTML page's style and script are compiled in.
PKGS += libcmark-gfm
$(eval $(call library,reports,$(wildcard reports/*.c reports/*/*.c)))
$(BUILD)/reports/render/html_page.o: reports/render/page.css reports/render/page.js

# Checks that the committed examples are what the command writes now.
.PHONY: check-examples examples
examples: all
	$(Q)reports/examples/generate $(BUILD)/kernsweep reports/examples
check-examples: all
	$(Q)rm -rf $(BUILD)/examples && reports/examples/generate $(BUILD)/kernsweep $(BUILD)/examples
	$(Q)diff -r -x generate -x README.md reports/examples $(BUILD)/examples
