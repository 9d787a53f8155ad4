-F ../hw_rtos/hw_rtos.f
-F ../lock_unit/lock_unit.f
axi_lite_port.sv
hw_rtos_axi_lite.sv
lock_unit_axi_lite.sv
