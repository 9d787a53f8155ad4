// SPDX-License-Identifier: Apache-2.0
// The headers of libre, which would have a type `bool` of their own otherwise.
#ifndef VOIP_RTC_H
#define VOIP_RTC_H

#include <stdbool.h>
#include <stdint.h>

#define HAVE_STDBOOL_H 1
#include <re.h>

#endif
