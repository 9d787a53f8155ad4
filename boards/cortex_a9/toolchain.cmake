# SPDX-License-Identifier: Apache-2.0
# GCC for a Cortex-A9 without an operating system.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(processor "-mcpu=cortex-a9 -mfpu=neon -mfloat-abi=hard -marm -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${processor}")
set(CMAKE_ASM_FLAGS_INIT "${processor}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections")
