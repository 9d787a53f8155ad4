# SPDX-License-Identifier: Apache-2.0
# FREERTOS_KERNEL_PATH, or the sources that source/Cargo.toml names.
function(find_freertos)
    if(NOT FREERTOS_KERNEL_PATH AND DEFINED ENV{FREERTOS_KERNEL_PATH})
        set(FREERTOS_KERNEL_PATH "$ENV{FREERTOS_KERNEL_PATH}")
    elseif(NOT FREERTOS_KERNEL_PATH)
        execute_process(COMMAND cargo metadata --locked --format-version 1
            WORKING_DIRECTORY "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/source" OUTPUT_VARIABLE packages ERROR_VARIABLE why RESULT_VARIABLE failed)
        if(failed)
            message(FATAL_ERROR "cargo cannot fetch FreeRTOS: ${failed} ${why}\n"
                "Install Rust, or name a folder of FreeRTOS-Kernel V11: -DFREERTOS_KERNEL_PATH=...")
        endif()
        string(REGEX MATCH "\"([^\"]*/freertos-next-[^/]*)/Cargo.toml" found "${packages}")
        set(FREERTOS_KERNEL_PATH "${CMAKE_MATCH_1}/FreeRTOS-Kernel")
    endif()
    if(NOT EXISTS "${FREERTOS_KERNEL_PATH}/tasks.c")
        message(FATAL_ERROR "FREERTOS_KERNEL_PATH is \"${FREERTOS_KERNEL_PATH}\", which has no tasks.c.\n"
            "Name a folder of FreeRTOS-Kernel V11, for example -DFREERTOS_KERNEL_PATH=$ENV{HOME}/FreeRTOS-Kernel")
    endif()
    set(FREERTOS_KERNEL_PATH "${FREERTOS_KERNEL_PATH}" CACHE PATH "the folder of FreeRTOS-Kernel" FORCE)
endfunction()
