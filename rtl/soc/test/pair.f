+incdir+../../common
../ram.sv
../bus_arbiter.sv
../ram_bus.sv
../write_buffer.sv
../dcache.sv
dcache_pair.sv
