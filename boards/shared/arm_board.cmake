# SPDX-License-Identifier: Apache-2.0
# What boards of Arm processors with a FreeRTOS on each core have alike. A board sets FREERTOS_PORT and
# `processor`, the folder of its start-up code, and includes this.
get_filename_component(WHIMBREL "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(FREERTOS_HEAP 5 CACHE STRING "")

# A project of FreeRTOS that adds a board's folder (docs/freertos.md) has its configuration.
if(NOT TARGET freertos_config)
    add_library(freertos_config INTERFACE)
    target_include_directories(freertos_config SYSTEM INTERFACE "${processor}/config"
        "${CMAKE_CURRENT_SOURCE_DIR}" "${processor}" "${WHIMBREL}/boards/shared" "${WHIMBREL}/kernels/freertos/include")
    target_compile_definitions(freertos_config INTERFACE projCOVERAGE_TEST=0)
endif()
if(NOT TARGET whimbrel_freertos)
    add_subdirectory("${WHIMBREL}/kernels/freertos" whimbrel_freertos)
endif()

# arm_board(NAME SOURCE...): the library NAME of a board, of its link.ld, of these files and of those
# that every processor has. `mmu_options` are the compiler's for mmu.c.
function(arm_board name)
    set(shared config gic host_files main memory semihosting uart)
    list(TRANSFORM shared REPLACE "(.+)" "${WHIMBREL}/boards/shared/\\1.c")
    set(own boot.S fault.c mmu.c processor.c)
    list(TRANSFORM own PREPEND "${processor}/")
    add_library(${name} OBJECT ${own} ${ARGN} ${shared})
    whimbrel_files(${name})
    target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" "${processor}" "${WHIMBREL}/boards/shared"
        "${WHIMBREL}/launcher/board" "${WHIMBREL}/launcher/plan")
    target_link_libraries(${name} PUBLIC whimbrel_host)
    # With the MMU off, memory is accessed by aligned words only; a loop must not become memset().
    set_source_files_properties("${processor}/mmu.c" PROPERTIES COMPILE_OPTIONS
        "${mmu_options};-fno-tree-loop-distribute-patterns;-fno-tree-vectorize")
    set(script "${CMAKE_CURRENT_SOURCE_DIR}/link.ld")
    target_link_options(${name} INTERFACE -nostartfiles -T "${script}")
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_DEPENDS "${script}")
endfunction()

# arm_board_conform(NAME SOURCE...): the programs `conform`, the conformance suite with these files of
# its harness, and `ordinary`, of tasks of FreeRTOS.
function(arm_board_conform board)
    set(CONFORM_SCALE 1 CACHE STRING "what the suite's counts are multiplied by")
    file(GLOB cases CONFIGURE_DEPENDS "${WHIMBREL}/kernels/conform/*.c")
    list(FILTER cases EXCLUDE REGEX "/(processes|checkpoint_cost)\\.c$")
    file(GLOB own CONFIGURE_DEPENDS "${WHIMBREL}/kernels/freertos/conform/*.c")
    list(FILTER own EXCLUDE REGEX "/(with_)?modules\\.c$")
    add_executable(conform ${cases} ${own} ${ARGN} "${WHIMBREL}/launcher/board/conform/board.c" "${WHIMBREL}/middleware/test/check.c")
    target_include_directories(conform PRIVATE "${WHIMBREL}/kernels/conform" "${WHIMBREL}/kernels/freertos/conform"
        "${processor}/conform" "${WHIMBREL}/middleware/test")
    # counts.c hears each doorbell.
    target_link_options(conform PRIVATE -Wl,--wrap=board_ring -Wl,--wrap=wb_freertos_doorbell)
    add_executable(ordinary EXCLUDE_FROM_ALL "${WHIMBREL}/kernels/freertos/test/ordinary.c")
    foreach(program conform ordinary)
        target_compile_definitions(${program} PRIVATE CONFORM_SCALE=${CONFORM_SCALE})
        target_link_libraries(${program} PRIVATE ${board} m)
    endforeach()
endfunction()
