# SPDX-License-Identifier: Apache-2.0
# What boards with Cortex-A9 have alike. A board's CMakeLists.txt includes this and calls
# cortex_a9_board(). Its map.h says where its memory and devices are, and its link.ld says it to the
# linker.
set(FREERTOS_PORT GCC_ARM_CA9 CACHE STRING "")
set(processor "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/../shared/arm_board.cmake")
include("${WHIMBREL}/kernels/freertos/modules.cmake")

# cortex_a9_board(NAME SOURCE...): the library NAME of the board with these files, which tell the
# time (mpcore_clock.h), start its other cores (secondary.h) and drive its UART (arm_board.h); and
# what the board's own build makes of it: the conformance suite, and images of applications.
macro(cortex_a9_board name)
    set(mmu_options -mno-unaligned-access)
    arm_board(${name} "${processor}/newlib.c" "${processor}/pages.c" "${processor}/reent.c" ${ARGN})
    target_link_options(${name} INTERFACE "-L${processor}")
    set_property(TARGET ${name} APPEND PROPERTY INTERFACE_LINK_DEPENDS "${processor}/sections.ld")
    if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        cortex_a9_conform(${name})
        include("${WHIMBREL}/launcher/board/launcher.cmake")
        whimbrel_application(${name})
    endif()
endmacro()

# Its modules: the suite's tasks, once in each state of the processor; tasks of the board's own
# cases; and some that the loader refuses.
function(cortex_a9_conform board)
    set(harness "${WHIMBREL}/kernels/freertos/conform")
    set(program "${harness}/program")
    arm_board_conform(${board} "${harness}/modules.c" "${harness}/with_modules.c")
    whimbrel_module(recreated "${WHIMBREL}/kernels/conform/program/recreated.c")
    whimbrel_module(thumb "${WHIMBREL}/kernels/conform/program/recreated.c")
    target_compile_options(thumb PRIVATE -mthumb)
    whimbrel_module(odd "${program}/odd.c")
    whimbrel_module(unlinkable "${program}/unlinkable.c")
    foreach(name recreated thumb odd unlinkable)
        target_include_directories(${name} PRIVATE "${WHIMBREL}/kernels/conform" "${program}")
    endforeach()
    foreach(name foreign cut_off)
        set(${name} "${CMAKE_CURRENT_BINARY_DIR}/${name}.module")
    endforeach()
    add_custom_target(refused
        COMMAND ${CMAKE_COMMAND} -E copy recreated.module "${foreign}"
        COMMAND printf "\\363" | dd "of=${foreign}" bs=1 seek=18 conv=notrunc status=none
        COMMAND head -c 1000 recreated.module > "${cut_off}"
        DEPENDS recreated BYPRODUCTS "${foreign}" "${cut_off}" VERBATIM)
    target_include_directories(conform PRIVATE "${program}")
    whimbrel_modules(conform recreated thumb odd unlinkable "${foreign}" "${cut_off}")
    add_dependencies(conform refused)
endfunction()
