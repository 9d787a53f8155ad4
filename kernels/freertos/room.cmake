# SPDX-License-Identifier: Apache-2.0
# Writes WB_KERNEL_TASK_BYTES to a header: the size of the variable wb_freertos_room, in whole lines.
#
#   cmake -DNM=... -DOBJECT=room.c.obj -DHEADER=... -P room.cmake
cmake_policy(VERSION 3.20)
execute_process(COMMAND "${NM}" --print-size --radix=d "${OBJECT}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "[0-9]+ 0*([0-9]+) . wb_freertos_room")
    message(FATAL_ERROR "${OBJECT} has no wb_freertos_room: ${symbols}")
endif()
math(EXPR bytes "(${CMAKE_MATCH_1} + 63) / 64 * 64")
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define WB_KERNEL_TASK_BYTES @bytes@\n" @ONLY)
