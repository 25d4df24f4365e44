# common: used by all other folders, depends on none.
common_rooms   := contract gguf base
common_sources := $(wildcard common/*.c $(common_rooms:%=common/%/*.c))
$(eval $(call library,common,$(common_sources)))
