# SPDX-License-Identifier: Apache-2.0
# Tasks compiled apart from the kernels (freertos_modules.h).
#
#   whimbrel_module(NAME SOURCE...)       a target NAME: the module, in a file NAME.module
#   whimbrel_modules(PROGRAM NAME...)     links PROGRAM with the loader, and with these modules as
#                                         data: targets, or files NAME.module made otherwise

set(WHIMBREL_FREERTOS "${CMAKE_CURRENT_LIST_DIR}")

function(whimbrel_module name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES SUFFIX ".module")
    target_link_libraries(${name} PRIVATE whimbrel_freertos_headers freertos_config freertos_kernel_include freertos_kernel_port_headers gcc)
    # The loader adds veneers to calls. Nobody unwinds the stack of a task.
    target_compile_options(${name} PRIVATE -fno-common -fno-pic -fno-unwind-tables -fno-asynchronous-unwind-tables)
    target_link_options(${name} PRIVATE -r -nostdlib -Wl,--no-gc-sections "-Wl,-T,${WHIMBREL_FREERTOS}/module.ld")
    set_target_properties(${name} PROPERTIES LINK_DEPENDS "${WHIMBREL_FREERTOS}/module.ld")
    add_custom_command(TARGET ${name} POST_BUILD COMMAND ${CMAKE_OBJCOPY} --strip-debug "$<TARGET_FILE:${name}>" VERBATIM)
endfunction()

# An entry of the table wb_modules_begin to wb_modules_end; the linker script keeps and sorts them.
function(whimbrel_modules program)
    target_sources(${program} PRIVATE "${WHIMBREL_FREERTOS}/modules.c" "${WHIMBREL_FREERTOS}/exports.c")
    file(GLOB loader CONFIGURE_DEPENDS "${WHIMBREL_FREERTOS}/loader/*.c")
    target_sources(${program} PRIVATE ${loader})
    # It takes the place of weak functions of the library, which is optimised as a whole.
    set_source_files_properties("${WHIMBREL_FREERTOS}/modules.c" PROPERTIES COMPILE_OPTIONS "-flto=auto;-ffat-lto-objects")
    foreach(name ${ARGN})
        if(TARGET ${name})
            get_target_property(folder ${name} BINARY_DIR)
            set(module "${folder}/${name}.module")
            add_dependencies(${program} ${name})
        else()
            set(module "${name}")
            get_filename_component(name "${module}" NAME_WE)
        endif()
        set(source "${CMAKE_CURRENT_BINARY_DIR}/${program}_${name}.S")
        file(CONFIGURE OUTPUT "${source}" CONTENT [[
    .section .wb_modules.@name@, "a"
    .balign 4
    .word 1f, 2f, 3f - 2f
    .section .rodata.wb_module_@name@, "a"
1:  .asciz "@name@"
    .balign 4
2:  .incbin "@module@"
3:
]] @ONLY)
        set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${module}")
        target_sources(${program} PRIVATE "${source}")
    endforeach()
endfunction()
