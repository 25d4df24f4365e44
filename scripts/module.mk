# scripts: what one does with a checkout: install what it needs, demonstrate, measure, check.
.PHONY: deps demo bench lint

# Uses the cores when nobody said how many.
parallel_make = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	$(Q)scripts/install-deps build test gpu lint report
demo:
	$(Q)scripts/demo
bench: all
	$(Q)BUILD=$(BUILD) scripts/bench/all
lint:
	$(Q)scripts/lint
