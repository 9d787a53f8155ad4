# SPDX-License-Identifier: Apache-2.0
# Bills of materials in SPDX, in $(BUILD)/sbom: of the files of this tree, by `reuse`; of the crates
# in bin/whimbrel and bin/whimbrel-sim, by a tool that Cargo compiles once, in two minutes.

CARGO_SBOM := $(BUILD)/tools/bin/cargo-sbom

$(CARGO_SBOM): | cargo-is-there
	$(CARGO) install --quiet --locked --root $(abspath $(BUILD))/tools cargo-sbom@0.10.0

.PHONY: sbom
sbom: $(CARGO_SBOM) $(PYTHON)  ## bills of materials in SPDX, in build/sbom: files, crates
	@mkdir -p $(BUILD)/sbom
	$(PYTHON) -m reuse spdx --output $(BUILD)/sbom/files.spdx
	cd crates && for crate in whimbrel whimbrel-engine; do $(abspath $(CARGO_SBOM)) \
		--cargo-package $$crate > $(abspath $(BUILD))/sbom/$$crate.spdx.json || exit 1; done
	@ls -l $(BUILD)/sbom
