# SPDX-License-Identifier: Apache-2.0
# What `make build` made, below a prefix (docs/install.md). Nothing is built here, so that root need not.

PREFIX ?= /usr/local
INSTALL := INSTALL_FROM="$(BUILD)" tools/install/install.sh

.PHONY: install uninstall test-install
install:  ## put what was built below PREFIX (/usr/local), in a DESTDIR if one is given
	@$(INSTALL) install "$(DESTDIR)$(PREFIX)"

uninstall:  ## remove it from there
	@$(INSTALL) uninstall "$(DESTDIR)$(PREFIX)"

# For other machines: applications without instructions of this processor alone, and without libraries
# that others may not have.
PORTABLE := $(BUILD)/portable
PORTABLE_APPS := $(filter-out apps/voip,$(APPS))
PORTABLE_MODULES := fm_radio hello image_filter mixed packets round_trips synthetic video
PORTABLE_MARCH := $(if $(filter x86_64,$(ARCH)),x86-64,armv8-a)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' crates/Cargo.toml)
PACKAGE := whimbrel-$(VERSION)-$(ARCH)
STAGE := INSTALL_FROM="$(PORTABLE)" MODULES="$(PORTABLE_MODULES)" tools/install/install.sh stage

.PHONY: portable tarball deb
portable: build
	@for app in $(PORTABLE_APPS); do \
		$(MAKE) -C $$app BUILD=$(abspath $(PORTABLE)) MARCH=$(PORTABLE_MARCH) all || exit 1; done
	@$(MAKE) timed-radio TIMED=$(abspath $(PORTABLE))/bench MARCH=$(PORTABLE_MARCH)

tarball: portable  ## what `make install` installs, for another machine: build/whimbrel-VERSION-PROCESSOR.tar.gz
	@rm -rf $(PORTABLE)/$(PACKAGE)
	@$(STAGE) $(PORTABLE)/$(PACKAGE)
	@tools/install/strip.sh $(PORTABLE)/$(PACKAGE)
	@tar -C $(PORTABLE) --sort=name --owner=0 --group=0 --numeric-owner -czf $(BUILD)/$(PACKAGE).tar.gz $(PACKAGE)
	@ls -l $(BUILD)/$(PACKAGE).tar.gz

deb: portable  ## the same as a package of Debian, in build
	@rm -rf $(PORTABLE)/deb
	@$(STAGE) $(PORTABLE)/deb/usr
	@tools/install/strip.sh $(PORTABLE)/deb/usr
	@tools/install/deb.sh $(PORTABLE)/deb $(VERSION) $(BUILD)

# The licences of what the command contains.
$(BUILD)/third-party.txt: crates/Cargo.lock tools/install/third_party.sh | cargo-is-there
	@mkdir -p $(@D)
	@tools/install/third_party.sh > $@.new
	@mv $@.new $@
build: $(BUILD)/third-party.txt

test-install: build $(PYTHON)
	$(PYTHON) -m pytest --quiet tests/test_install.py tests/test_new.py
