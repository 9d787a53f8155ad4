# SPDX-License-Identifier: Apache-2.0
# The hardware in SystemVerilog. Its tools are Python packages, in an environment that nothing else needs.

RTL_PYTHON := $(BUILD)/venv_rtl/bin/python

# Debian's Python: cocotb needs its shared library.
$(RTL_PYTHON): rtl/requirements.txt
	/usr/bin/python3 -m venv $(BUILD)/venv_rtl
	$(RTL_PYTHON) -m pip install --quiet --requirement rtl/requirements.txt
	@touch $@

.PHONY: test-rtl rtl-test
rtl-test: test-rtl
test-rtl: $(RTL_PYTHON)
	$(RTL_PYTHON) -m pytest --quiet -rP rtl
