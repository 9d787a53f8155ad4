# SPDX-License-Identifier: Apache-2.0
# whimbrel_host(KERNEL): the library whimbrel_host, a launcher's functions on the first core of a board
# whose kernels are the library KERNEL.
set(whimbrel_board "${CMAKE_CURRENT_LIST_DIR}")

function(whimbrel_host kernel)
    set(host "${whimbrel_board}/../api")
    add_library(whimbrel_host STATIC EXCLUDE_FROM_ALL
        "${whimbrel_board}/failed.c" "${whimbrel_board}/host.c" "${whimbrel_board}/supervisor.c" "${whimbrel_board}/trap.c" "${host}/death_report.c" "${host}/heap.c")
    target_include_directories(whimbrel_host PUBLIC "${whimbrel_board}" "${host}")
    target_compile_options(whimbrel_host PRIVATE -std=c11 -Wall -Wextra)
    target_link_libraries(whimbrel_host PUBLIC ${kernel})
endfunction()

# whimbrel_files(BOARD): what a board's library takes along: its files, and its line to the command.
function(whimbrel_files board)
    foreach(name files line link linked)
        target_sources(${board} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.c")
    endforeach()
endfunction()
