-F ../hw_rtos/hw_rtos.f
-F ../lock_unit/lock_unit.f
soc_pkg.sv
ram.sv
bus_arbiter.sv
ram_bus.sv
write_buffer.sv
dcache.sv
icache.sv
tcm.sv
data_demux.sv
core_tile.sv
timer.sv
byte_fifo.sv
uart.sv
counters.sv
system.sv
device_bus.sv
soc.sv
