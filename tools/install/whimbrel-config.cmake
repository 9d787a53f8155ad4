# SPDX-License-Identifier: Apache-2.0
# find_package(whimbrel): for a module of tasks, and for a client of a run.
#
#   add_library(my_tasks MODULE tasks.c)
#   target_link_libraries(my_tasks PRIVATE whimbrel::module)
#
# WHIMBREL_SOURCES is the folder of kernels/freertos and boards, for add_subdirectory (docs/freertos.md).
get_filename_component(_whimbrel "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(WHIMBREL_SOURCES "${_whimbrel}/share/whimbrel")

if(NOT TARGET whimbrel::module)
    # The kernels share a module's writable data, so that nothing may be bound late; an overflow of a
    # task's stack touches the guard below it.
    add_library(whimbrel::module INTERFACE IMPORTED)
    set_target_properties(whimbrel::module PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${_whimbrel}/include"
        INTERFACE_COMPILE_OPTIONS "-fPIC;-fstack-clash-protection"
        INTERFACE_LINK_OPTIONS "-Wl,-z,now")
    add_library(whimbrel::client STATIC IMPORTED)
    set_target_properties(whimbrel::client PROPERTIES
        IMPORTED_LOCATION "${_whimbrel}/lib/libwhimbrel-client.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_whimbrel}/include")
endif()
unset(_whimbrel)
