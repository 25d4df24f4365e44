# common: what every folder may use and nothing above it may leak into.
$(eval $(call library,common,$(wildcard common/*/*.c)))
