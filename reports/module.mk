# reports: read-only model and its renderers. The page's style and script are compiled in.
PKGS += libcmark-gfm
$(eval $(call library,reports,$(wildcard reports/*.c)))
$(BUILD)/reports/html_page.o: reports/page.css reports/page.js
