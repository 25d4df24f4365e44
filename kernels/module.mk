# kernels: stands alone (a node is sent the folder and its Makefile); this file only adds top-level targets.
#   make resources ARCH=gfx942|gfx90a|sm_90a   build/resources/ARCH.json, without a GPU
.PHONY: resources
resources_of := $(or $(ARCH),gfx942)
resources:
	$(Q)+$(MAKE) --no-print-directory -C kernels PLATFORM=$(if $(filter sm_%,$(resources_of)),nvidia,amd) \
	  ARCH=$(resources_of) BUILD=$(abspath $(BUILD))/kernels/$(resources_of) \
	  RESOURCES=$(abspath $(BUILD))/resources/$(resources_of).json resources
