# common: used by all other folders, depends on none of them.
$(eval $(call library,common,$(wildcard common/*/*.c)))
