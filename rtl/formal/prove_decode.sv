// SPDX-License-Identifier: Apache-2.0
// No register is there twice, none is written in part, and none is of a task or port that is not.

`include "formal.svh"

module prove_decode #(
  parameter int unsigned NumTasks = 12,
  parameter int unsigned NumPorts = 20
) (
  input logic             clk_i,
  input logic [1:0][11:0] addr_i,
  input logic [1:0]       we_i,
  input logic [1:0][3:0]  be_i
);

  `RESET_ONCE

  rtos_pkg::op_e   op0, op1;
  logic [1:0][5:0] index;
  logic [1:0]      bad_port, bad_task;
  logic            alike;

  hw_rtos_decode #(.NumTasks(NumTasks), .NumPorts(NumPorts)) one (
    .addr_i(addr_i[0]), .we_i(we_i[0]), .be_i(be_i[0]), .op_o(op0),
    .index_o(index[0]), .bad_port_o(bad_port[0]), .bad_task_o(bad_task[0])
  );
  hw_rtos_decode #(.NumTasks(NumTasks), .NumPorts(NumPorts)) other (
    .addr_i(addr_i[1]), .we_i(we_i[1]), .be_i(be_i[1]), .op_o(op1),
    .index_o(index[1]), .bad_port_o(bad_port[1]), .bad_task_o(bad_task[1])
  );

  // The same register, or that of another task or port.
  assign alike = we_i[0] == we_i[1] && addr_i[0][11:8] == addr_i[1][11:8]
                 && (addr_i[0] >= rtos_pkg::RegTaskConfig || addr_i[0] == addr_i[1]);

  // A send has four addresses, which say what becomes of the word.
  `ASSERT(EachRegisterOnce, op0 == rtos_pkg::OpBad || op0 == rtos_pkg::OpSend || op0 != op1
                            || alike)
  `ASSERT(NotInPart, !we_i[0] || be_i[0] == 4'b1111 || op0 == rtos_pkg::OpBad)
  `ASSERT(Aligned, addr_i[0][1:0] == 2'b00 || op0 == rtos_pkg::OpBad)
  `ASSERT(NothingAbove, addr_i[0] < 12'hA00 || op0 == rtos_pkg::OpBad)
  `ASSERT(PortsThatAre, addr_i[0] < 12'h300 || bad_port[0] || 32'(index[0]) < NumPorts
                        || op0 == rtos_pkg::OpBad)
  `ASSERT(TasksThatAre, addr_i[0] < 12'h100 || addr_i[0] >= 12'h300 || bad_task[0]
                        || 32'(index[0]) < NumTasks)
  `ASSERT(OneOfBoth, !(bad_port[0] && bad_task[0]))

endmodule
