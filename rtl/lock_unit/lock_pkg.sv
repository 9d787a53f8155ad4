// SPDX-License-Identifier: Apache-2.0
// The registers of the Lock Unit, which lock_unit.rdl describes.

package lock_pkg;

  // lock_unit.rdl: make rtl-registers
  // Byte offsets within the unit.
  localparam logic [11:0] RegAcquire = 12'h000;  // w   asks for the address; waits until granted
  localparam logic [11:0] RegRequest = 12'h004;  // w   asks for the address, and does not wait
  localparam logic [11:0] RegGrant   = 12'h008;  // r   1: granted
  localparam logic [11:0] RegWait    = 12'h00C;  // r   waits until granted, then 1
  localparam logic [11:0] RegRelease = 12'h010;  // w   gives the lock of this address back
  localparam logic [11:0] RegCancel  = 12'h014;  // w   takes a request back, granted or not
  localparam logic [11:0] RegStatus  = 12'h018;  // r   a status_e: of this core's last command
  localparam logic [11:0] RegErrors  = 12'h01C;  // rw  counts refused commands; any write clears it

  typedef enum logic [1:0] {
    StatusOk      = 2'd0,
    StatusNotHeld = 2'd1,  // a release without the lock, a wait or a cancel without a request
    StatusHeld    = 2'd2   // a second request of a core that has one
  } status_e;
  // end of registers

endpackage
