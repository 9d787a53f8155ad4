// SPDX-License-Identifier: Apache-2.0
// For a program without modules: modules.c replaces this.

#include "freertos_modules.h"

__attribute__((weak)) const struct wb_freertos_recreation wb_freertos_recreation;
