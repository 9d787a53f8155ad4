# SPDX-License-Identifier: Apache-2.0
# GCC and picolibc for a Cortex-A53 without an operating system.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
# Atomic operations by the processor, not by functions that ask Linux what it has; nothing is Linux's.
set(nothing_of_linux "-U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix")
set(processor "${nothing_of_linux} -mcpu=cortex-a53 -mno-outline-atomics --specs=picolibc.specs -fno-pie -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${processor}")
set(CMAKE_ASM_FLAGS_INIT "${processor}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-no-pie -static -Wl,--gc-sections -Wl,--no-warn-rwx-segments")
