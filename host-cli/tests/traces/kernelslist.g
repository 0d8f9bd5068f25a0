MemcpyHtoD,0x00007f1000000000,65536
kernel-1.traceg
kernel-2.traceg
MemcpyHtoD,0x00007f1000010000,4
kernel-3-ctx_0x55e3a796e730.traceg
MemcpyDtoH,0x00007f1000010000,4
kernel-4.traceg.xz
