# SPDX-License-Identifier: Apache-2.0
# The launcher of a board, and how an image is made of it. A board includes this.
set(launcher "${CMAKE_CURRENT_LIST_DIR}")
set(yyjson "${WHIMBREL}/launcher/third_party/yyjson")
if(WHIMBREL_GUEST)
    # The launcher is elsewhere.
    set(launcher_c guest)
else()
    set(launcher_c count events main start)
    set(helper_c build choose commands helper lines object parse recorder deadlock emit emit_power)
    list(TRANSFORM helper_c REPLACE "(.+)" "${WHIMBREL}/launcher/protocol/\\1.c")
    set(plan_c layout sizes)
    list(TRANSFORM plan_c REPLACE "(.+)" "${WHIMBREL}/launcher/plan/\\1.c")
    list(APPEND helper_c "${yyjson}/yyjson.c")
endif()
list(TRANSFORM launcher_c REPLACE "(.+)" "${launcher}/\\1.c")

add_library(launcher OBJECT EXCLUDE_FROM_ALL ${launcher_c} ${helper_c} ${plan_c})
set_source_files_properties("${yyjson}/yyjson.c" PROPERTIES COMPILE_OPTIONS "-w")
target_include_directories(launcher PUBLIC "${launcher}" "${WHIMBREL}/launcher/board" "${WHIMBREL}/launcher/protocol" "${WHIMBREL}/launcher/plan")
target_include_directories(launcher SYSTEM PUBLIC "${yyjson}")
target_compile_options(launcher PRIVATE -std=gnu11 -Wall -Wextra)
target_link_libraries(launcher PUBLIC whimbrel_host)

# whimbrel_image(TARGET BOARD TABLES SOURCE...): an application with the tables that `whimbrel plan`
# wrote, and the launcher, for the board of that library. `options` are its compiler's.
function(whimbrel_image target board tables)
    add_library(${target}_application OBJECT EXCLUDE_FROM_ALL ${ARGN})
    target_compile_options(${target}_application PRIVATE ${options})
    target_link_libraries(${target}_application PRIVATE ${board})
    # Its calls of malloc() and its kin go to the task's heap: its objects are joined, and the names
    # replaced, before the C library comes in. The application's globals are one variable for all
    # cores: the board's linker script knows them by the end of this file's name.
    set(joined "${CMAKE_CURRENT_BINARY_DIR}/${target}.whimbrel_application.o")
    # For the processor of the objects, and without a C library's linker script.
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    list(FILTER flags EXCLUDE REGEX "^--specs")
    set(hooks "${WHIMBREL}/kernels/linux/program/hooks.syms")
    # A task's entry is the application's: where it has none, the C library's `sync` is not taken.
    file(STRINGS "${tables}" entries REGEX "^wb_task_entry [A-Za-z0-9_]+;$")
    list(TRANSFORM entries REPLACE "^wb_task_entry ([A-Za-z0-9_]+);$" "-Wl,--require-defined=\\1")
    add_custom_command(OUTPUT "${joined}"
        COMMAND "${CMAKE_C_COMPILER}" ${flags} -r -nostdlib ${entries} -o "${joined}" "$<TARGET_OBJECTS:${target}_application>"
        COMMAND "${CMAKE_OBJCOPY}" "--redefine-syms=${hooks}" "${joined}"
        DEPENDS ${target}_application "$<TARGET_OBJECTS:${target}_application>" "${hooks}"
        COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties("${joined}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    add_executable(${target} EXCLUDE_FROM_ALL "${tables}" "${joined}")
    # An entry that may be missing is meant by a second name, which only the application's own
    # functions have.
    file(STRINGS "${tables}" may_be_missing REGEX "^wb_task_entry whimbrel_entry_")
    if(may_be_missing)
        add_custom_command(OUTPUT "${joined}.entries"
            COMMAND sh -c [["$0" -g --defined-only "$1" | sed -n 's/.* [TW] \([A-Za-z0-9_]*\)$/--defsym=whimbrel_entry_\1=\1/p' > "$1.entries"]]
                "${CMAKE_NM}" "${joined}"
            DEPENDS "${joined}" VERBATIM)
        target_sources(${target} PRIVATE "${joined}.entries")
        target_link_options(${target} PRIVATE "-Wl,@${joined}.entries")
    endif()
    # An image is linked for each plan; where the kernel is optimised as a whole, that was done once.
    if(TARGET whimbrel_whole)
        get_target_property(whole whimbrel_whole OBJECT)
        set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        target_sources(${target} PRIVATE "${whole}")
        add_dependencies(${target} whimbrel_whole)
    endif()
    target_link_libraries(${target} PRIVATE launcher ${board} m)
    # Tasks that are recreated are loaded from a module of the same sources.
    file(STRINGS "${tables}" recreated REGEX "WB_RECREATE")
    if(recreated)
        whimbrel_module(${target}_module ${ARGN})
        target_compile_options(${target}_module PRIVATE ${options})
        target_link_libraries(${target}_module PRIVATE m gcc)
        whimbrel_modules(${target} ${target}_module)
        target_sources(${target} PRIVATE "${launcher}/exports.c")
    endif()
endfunction()

# whimbrel_application(BOARD): the target `image`, if `whimbrel run --board` names an application.
function(whimbrel_application board)
    set(WHIMBREL_APP_NAME "" CACHE STRING "the application's name: the target `image` makes NAME.elf")
    set(WHIMBREL_APP_TABLES "" CACHE FILEPATH "what `whimbrel plan` wrote")
    set(WHIMBREL_APP_SOURCES "" CACHE STRING "the application's sources")
    set(WHIMBREL_APP_OPTIONS "" CACHE STRING "the compiler's options for them")
    if(WHIMBREL_APP_NAME)
        separate_arguments(options UNIX_COMMAND "${WHIMBREL_APP_OPTIONS}")
        whimbrel_image(image ${board} "${WHIMBREL_APP_TABLES}" ${WHIMBREL_APP_SOURCES})
        set_target_properties(image PROPERTIES OUTPUT_NAME "${WHIMBREL_APP_NAME}.elf")
    endif()
endfunction()
