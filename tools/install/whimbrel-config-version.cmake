# SPDX-License-Identifier: Apache-2.0
# Until version 1 each minor version may differ from the one before.
set(PACKAGE_VERSION "@VERSION@")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _whimbrel "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+(\\.[0-9]+)?" _wanted "${PACKAGE_FIND_VERSION}")
if(_whimbrel VERSION_EQUAL _wanted AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
