// SPDX-License-Identifier: Apache-2.0
// Decodes an access: which operation, on which port or task, and whether there is such a one.

`include "assert.svh"

module hw_rtos_decode #(
  parameter int unsigned NumTasks = 16,
  parameter int unsigned NumPorts = 16
) (
  input  logic [11:0]       addr_i,
  input  logic              we_i,
  input  logic [3:0]        be_i,
  output rtos_pkg::op_e     op_o,
  output logic [5:0]        index_o,
  output logic              bad_port_o,
  output logic              bad_task_o
);

  logic is_task, is_port;

  assign index_o    = addr_i[7:2];
  assign bad_task_o = is_task && 32'(index_o) >= NumTasks;
  assign bad_port_o = is_port && 32'(index_o) >= NumPorts;

  always_comb begin
    op_o    = rtos_pkg::OpBad;
    is_task = 1'b0;
    is_port = 1'b0;
    unique case (addr_i[11:8])
      4'h0: begin
        unique case ({addr_i[7:2], 2'b00})
          rtos_pkg::RegCallRtos[7:0]: if (we_i) op_o = rtos_pkg::OpCall;
          rtos_pkg::RegWaitPort[7:0]: if (we_i) op_o = rtos_pkg::OpWaitPort;
          rtos_pkg::RegNextTask[7:0]: if (!we_i) op_o = rtos_pkg::OpNextTask;
          rtos_pkg::RegSaved[7:0]:    if (we_i) op_o = rtos_pkg::OpSaved;
          rtos_pkg::RegCurrent[7:0]:  if (!we_i) op_o = rtos_pkg::OpCurrent;
          rtos_pkg::RegStatus[7:0]:   if (!we_i) op_o = rtos_pkg::OpStatus;
          rtos_pkg::RegErrors[7:0]:   op_o = we_i ? rtos_pkg::OpClearErrors : rtos_pkg::OpErrors;
          rtos_pkg::RegControl[7:0]:  op_o = we_i ? rtos_pkg::OpSetControl : rtos_pkg::OpControl;
          rtos_pkg::RegSlice[7:0]:    op_o = we_i ? rtos_pkg::OpSetSlice : rtos_pkg::OpSlice;
          rtos_pkg::RegPatience[7:0]: op_o = we_i ? rtos_pkg::OpSetPatience : rtos_pkg::OpPatience;
          rtos_pkg::RegInfo[7:0]:     if (!we_i) op_o = rtos_pkg::OpInfo;
          default:                    op_o = rtos_pkg::OpBad;
        endcase
      end
      rtos_pkg::RegTaskConfig[11:8]: begin
        op_o    = we_i ? rtos_pkg::OpSetTaskConfig : rtos_pkg::OpTaskConfig;
        is_task = 1'b1;
      end
      rtos_pkg::RegTaskState[11:8]: begin
        if (!we_i) op_o = rtos_pkg::OpTaskState;
        is_task = 1'b1;
      end
      rtos_pkg::RegPortConfig[11:8]: begin
        op_o    = we_i ? rtos_pkg::OpSetPortConfig : rtos_pkg::OpPortConfig;
        is_port = 1'b1;
      end
      rtos_pkg::RegSend[11:8], rtos_pkg::RegSendMore[11:8], rtos_pkg::RegSendNow[11:8],
      rtos_pkg::RegSendNowMore[11:8]: begin
        if (we_i) op_o = rtos_pkg::OpSend;
        is_port = 1'b1;
      end
      rtos_pkg::RegReceive[11:8]: begin
        if (!we_i) op_o = rtos_pkg::OpReceive;
        is_port = 1'b1;
      end
      rtos_pkg::RegPortState[11:8]: begin
        if (!we_i) op_o = rtos_pkg::OpPortState;
        is_port = 1'b1;
      end
      default: op_o = rtos_pkg::OpBad;
    endcase
    if (addr_i[1:0] != 2'b00 || (we_i && be_i != 4'b1111)) op_o = rtos_pkg::OpBad;
  end

  `ASSERT_KNOWN(OperationKnown, {op_o, index_o, bad_port_o, bad_task_o})

endmodule
