# kernsweep: a short root Makefile and one module.mk per folder, non-recursive; all output goes to $(BUILD).
#
#   make            the command and the executor        make demo     a complete sweep against a private sshd
#   make test       all tests (SINCE=REV: what a change can touch)    make bench    as ratios (ONLY=NAMES)
#   make lint       format, clang-tidy, shellcheck      make clean
#   make docs       the documentation as HTML pages
#   make install    PREFIX=/usr/local DESTDIR=          make uninstall, dist, deb
# Switches: V=1 (show commands)  WERROR=1  SANITIZE=address,undefined  CC=clang  BUILD=dir
.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
SANITIZE ?=
BUILD    ?= build$(if $(SANITIZE),/sanitize)
WERROR   ?=
V        ?=
Q        := $(if $(V),,@)
say       = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

PKGS     := libssh2 jansson sqlite3 libarchive nettle libpcre2-8
CPPFLAGS += -I. -D_GNU_SOURCE -DKERNSWEEP_VERSION='"$(shell cat VERSION)"'
# To optimise what sanitizers add takes longer than the tests gain by it, and their reports need only line numbers.
CFLAGS   ?= $(if $(SANITIZE),-O1 -g1,-O2 -g)
CFLAGS   += -std=gnu17 -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -fno-strict-aliasing -fstack-protector-strong $(if $(WERROR),-Werror) \
            $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer $(unranged))
# GCC knows the ranges of numbers only with -O2. Older clangs do not know the option.
unranged  = $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
LDFLAGS  += $(if $(SANITIZE),-fsanitize=$(SANITIZE) -no-pie $(if $(findstring clang,$(CC)),,$(static_libsan)))
# A sanitizer's shared library makes each start of a program a third slower, and the tests start many. Clang links it so. The
# descriptions of what it checks, relocated at each start of a program that may lie anywhere, would take another third.
static_libsan = -static-libasan -static-libubsan

# At the end of a link: leaves a list of what went into the program, for tests/since.
linked    = -Wl,--trace,--trace >$@.linked

# $(call objects,SOURCES): the object files of the sources
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
# $(call library,NAME,SOURCES)
define library
$(1)_objects := $$(call objects,$(2))
$(BUILD)/lib$(1).a: $$($(1)_objects)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && ar qcs $$@ $$^
objects_all += $$($(1)_objects)
endef

include $(wildcard common/module.mk executor/module.mk results/module.mk reports/module.mk \
          harness/module.mk kernels/module.mk tests/module.mk scripts/module.mk packaging/module.mk)

.PHONY: all clean FORCE
all: $(programs)

# Rebuild when the compiler or the flags change, which time stamps alone do not show.
$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(subst ','\'',$(CPPFLAGS)) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || \
	  printf '%s\n' '$(CC) $(subst ','\'',$(CPPFLAGS)) $(CFLAGS) $(LDFLAGS)' > $@

$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

clean:
	rm -rf $(BUILD)

-include $(objects_all:.o=.d)
