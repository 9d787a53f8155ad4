+incdir+../common
lock_pkg.sv
lock_unit_order.sv
lock_unit_port.sv
lock_unit.sv
