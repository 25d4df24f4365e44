# reports: read-only model and its renderers.
$(eval $(call library,reports,$(wildcard reports/*.c)))
