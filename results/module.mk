# results: the store. The SQL files of schemas/ are compiled in, so that the command needs no data files.
$(eval $(call library,results,$(wildcard results/*.c)))
