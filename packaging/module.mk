# packaging: `make install`, the tarball and the Debian package. The version is defined only in VERSION.
PREFIX      ?= /usr/local
DESTDIR     ?=
bindir      ?= $(PREFIX)/bin
libexecdir  ?= $(PREFIX)/libexec
datadir     ?= $(PREFIX)/share
mandir      ?= $(datadir)/man
unitdir     ?= $(PREFIX)/lib/systemd/user
docdir      ?= $(datadir)/doc/kernsweep
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir  ?= $(datadir)/zsh/site-functions
fishcompdir ?= $(datadir)/fish/vendor_completions.d

# The standard plan of `run NODE` is installed in the layout of the checkout, so that it finds its sources.
share        = $(datadir)/kernsweep
release     := kernsweep-$(shell cat VERSION)
# The date of manual pages and archives: that of the last commit, which the tarball preserves as a time stamp.
epoch        = $(or $(SOURCE_DATE_EPOCH),$(shell $(if $(wildcard .git),git log -1 --format=%ct,stat -c %Y VERSION)))
shells      := bash zsh fish

.PHONY: man completions install uninstall dist deb
man: $(BUILD)/man/kernsweep.1
completions: $(shells:%=$(BUILD)/completions/kernsweep.%)

$(BUILD)/man/kernsweep.1: $(BUILD)/kernsweep scripts/man-pages scripts/command-table $(wildcard docs/man/*.mdoc)
	$(call say,MAN,$(@D))
	$(Q)SOURCE_DATE_EPOCH=$(epoch) scripts/man-pages $(BUILD)/kernsweep $(@D)
$(BUILD)/completions/kernsweep.%: $(BUILD)/kernsweep scripts/completions scripts/command-table
	@mkdir -p $(@D)
	$(call say,COMPL,$@)
	$(Q)scripts/completions $(BUILD)/kernsweep $* > $@

install: all man completions
	$(Q)packaging/install-tree '$(BUILD)' '$(DESTDIR)' bin='$(bindir)' libexec='$(libexecdir)' share='$(share)' \
	    man='$(mandir)' unit='$(unitdir)' doc='$(docdir)' bash='$(bashcompdir)' zsh='$(zshcompdir)' fish='$(fishcompdir)'
# Removes the files listed at installation.
uninstall:
	$(Q)packaging/uninstall-tree '$(DESTDIR)' '$(share)'

dist:
	@mkdir -p $(BUILD)
	$(call say,DIST,$(BUILD)/$(release).tar.gz)
	$(Q)packaging/make-dist '$(release)' '$(epoch)' '$(BUILD)/$(release).tar.gz'
deb: dist
	$(Q)packaging/make-deb '$(release)' '$(epoch)' '$(BUILD)'
