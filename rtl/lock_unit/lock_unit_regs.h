// SPDX-License-Identifier: Apache-2.0
// The registers of the Lock Unit for C, from lock_unit.rdl: make rtl-registers.
// Offsets are in bytes from the unit's address, which is the same for every core.
#ifndef LOCK_UNIT_REGS_H
#define LOCK_UNIT_REGS_H

#define LOCK_UNIT_ACQUIRE 0x000U
#define LOCK_UNIT_REQUEST 0x004U
#define LOCK_UNIT_GRANT 0x008U
#define LOCK_UNIT_WAIT 0x00CU
#define LOCK_UNIT_RELEASE 0x010U
#define LOCK_UNIT_CANCEL 0x014U
#define LOCK_UNIT_STATUS 0x018U
#define LOCK_UNIT_ERRORS 0x01CU

#define LOCK_UNIT_GRANT_GRANTED 0x1U

#define LOCK_UNIT_WAIT_GRANTED 0x1U

#ifndef __ASSEMBLER__

enum lock_unit_status {
    LOCK_UNIT_STATUS_OK = 0,
    LOCK_UNIT_STATUS_NOT_HELD = 1,
    LOCK_UNIT_STATUS_HELD = 2
};

#endif

#endif
