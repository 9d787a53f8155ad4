# SPDX-License-Identifier: Apache-2.0
# What `make build` made, below a prefix (docs/install.md). Nothing is built here, so that root need not.

PREFIX ?= /usr/local
INSTALL := INSTALL_FROM="$(BUILD)" tools/install/install.sh

.PHONY: install uninstall test-install test-release
install:  ## put what was built below PREFIX (/usr/local), in a DESTDIR if one is given
	@$(INSTALL) install "$(DESTDIR)$(PREFIX)"

uninstall:  ## remove it from there
	@$(INSTALL) uninstall "$(DESTDIR)$(PREFIX)"

# For other machines: applications without instructions of this processor alone, and without libraries
# that others may not have.
PORTABLE := $(BUILD)/portable
PORTABLE_APPS := $(filter-out apps/voip,$(APPS))
PORTABLE_MODULES := fm_radio fm_radio_live hello image_filter mixed packets round_trips synthetic video
PORTABLE_MARCH := $(if $(filter x86_64,$(ARCH)),x86-64,armv8-a)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' crates/Cargo.toml)
PACKAGE := whimbrel-$(VERSION)-$(ARCH)
STAGE := INSTALL_FROM="$(PORTABLE)" MODULES="$(PORTABLE_MODULES)" tools/install/install.sh stage

# The time of what is in packages, and of nothing else: that of the commit, which its archive keeps in a file.
SOURCE_DATE_EPOCH ?= $(if $(wildcard .git),$(shell git log -1 --format=%ct),$(shell cat tools/install/date.txt))
tarball deb wheel dist: export SOURCE_DATE_EPOCH := $(SOURCE_DATE_EPOCH)

.PHONY: portable tarball deb wheel dist
portable: build
	@for app in $(PORTABLE_APPS); do \
		$(MAKE) -C $$app BUILD=$(abspath $(PORTABLE)) MARCH=$(PORTABLE_MARCH) DEVICES=none all || exit 1; done
	@$(MAKE) timed-radio TIMED=$(abspath $(PORTABLE))/bench MARCH=$(PORTABLE_MARCH)

tarball: portable  ## what `make install` installs, for another machine: build/whimbrel-VERSION-PROCESSOR.tar.gz
	@rm -rf $(PORTABLE)/$(PACKAGE)
	@$(STAGE) $(PORTABLE)/$(PACKAGE)
	@tools/install/strip.sh $(PORTABLE)/$(PACKAGE)
	@tar -C $(PORTABLE) --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$SOURCE_DATE_EPOCH \
		--use-compress-program='gzip -9n' -cf $(BUILD)/$(PACKAGE).tar.gz $(PACKAGE)
	@ls -l $(BUILD)/$(PACKAGE).tar.gz

deb: portable  ## the same as a package of Debian, in build
	@rm -rf $(PORTABLE)/deb
	@$(STAGE) $(PORTABLE)/deb/usr
	@tools/install/strip.sh $(PORTABLE)/deb/usr
	@tools/install/deb.sh $(PORTABLE)/deb $(VERSION) $(BUILD)

# With the modules of the tarball.
wheel: tarball $(PACKAGE_PYTHON)
	@rm -rf $(PORTABLE)/wheel
	@env -u MAKEFLAGS -u MFLAGS PATH=$(abspath $(BUILD))/py/bin:$$PATH WHIMBREL_BUILT=1 \
		WHIMBREL_APPS=$(abspath $(PORTABLE))/$(PACKAGE)/libexec/whimbrel/build/apps \
		$(PACKAGE_PYTHON) -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(PORTABLE)/wheel ./python

DIST := $(BUILD)/dist

dist:  ## the files of a release of the commit, in build/dist: sources, the packages and the wheel, with their sums
	@[ -z "$$(git status --porcelain)" ] || { printf 'error: this tree has changes that are not in a commit\n%s\n' \
		'help: commit them, or put them aside: git stash --include-untracked' >&2; exit 1; }
	@$(MAKE) tarball deb wheel
	@rm -rf $(DIST)
	@mkdir -p $(DIST)
	@git archive --prefix=whimbrel-$(VERSION)/ HEAD | gzip -9n > $(DIST)/whimbrel-$(VERSION).tar.gz
	@cp $(BUILD)/$(PACKAGE).tar.gz $(BUILD)/whimbrel_$(VERSION)_*.deb $(PORTABLE)/wheel/*.whl $(DIST)
	@cd $(DIST) && sha256sum whimbrel* > SHA256SUMS && cat SHA256SUMS

# The licences of what the command contains.
$(BUILD)/third-party.txt: crates/Cargo.lock tools/install/third_party.sh | cargo-is-there
	@mkdir -p $(@D)
	@tools/install/third_party.sh > $@.new
	@mv $@.new $@
build: $(BUILD)/third-party.txt

# The client of Rust outside of its workspace, whose values Cargo writes into its Cargo.toml.
RUST_CLIENT := $(BUILD)/rust-client
$(RUST_CLIENT)/Cargo.toml: $(wildcard clients/rust/src/*.rs) clients/rust/Cargo.toml crates/Cargo.toml | cargo-is-there
	@$(CARGO) package --quiet --offline --locked --no-verify --allow-dirty --package whimbrel-client
	@rm -rf $(RUST_CLIENT)
	@mkdir -p $(RUST_CLIENT)
	@tar -C $(RUST_CLIENT) --strip-components=1 -xmf $(TARGET)/package/whimbrel-client-$(VERSION).crate
build: $(RUST_CLIENT)/Cargo.toml

test-install: build $(PYTHON)
	$(PYTHON) -m pytest --quiet tests/test_install.py tests/test_new.py

# What apt fetches for the package is fetched once a week.
BARE_ROOT = $(BUILD)/bare/$(shell date +%G-%V).tar
test-release: deb $(PYTHON)
	@[ -f $(BARE_ROOT) ] || { rm -rf $(dir $(BARE_ROOT)); tests/release/bare_root.sh $(BUILD)/whimbrel_$(VERSION)_*.deb $(BARE_ROOT); }
	BARE_ROOT=$(abspath $(BARE_ROOT)) $(PYTHON) -m pytest --quiet -rP tests/release
