# SPDX-License-Identifier: Apache-2.0
# Projects of FreeRTOS name this file (docs/freertos.md).
include("${CMAKE_CURRENT_LIST_DIR}/../cortex_a9/toolchain.cmake")
