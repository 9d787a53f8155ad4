# SPDX-License-Identifier: Apache-2.0
# Makes LINK a link to FreeRTOS's sources: cmake -DLINK=... -P freertos.cmake
include("${CMAKE_CURRENT_LIST_DIR}/../../../../kernels/freertos/find.cmake")
find_freertos()
file(CREATE_LINK "${FREERTOS_KERNEL_PATH}" "${LINK}" SYMBOLIC)
