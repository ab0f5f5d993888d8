; The intrinsics: all that a kernel asks of an NVIDIA GPU beyond ordinary LLVM IR, each a small function that is always inlined.
;
; Kernels call these by name and know no PTX. Another engine that runs the same kernels gives the names other bodies:
; the emulator does, with its own threads, memory and clock. The rules for both:
;
; - "Shared" pointers are ptr addrspace(3), device memory is ptr addrspace(1). A barrier (mbarrier) is 8 bytes of shared memory.
; - Those marked W are called by all 32 lanes of a warp together; T by one thread for itself.
; - An intrinsic that orders memory says so. All others move no ordinary load or store across themselves, and promise nothing to other
;   threads.

@scan_shared_memory = external addrspace(3) global [0 x i8], align 128

; T: the number of the thread in its block, from 0.
define internal i32 @scan.thread() #0 {
  %r = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %r
}

; T: the number of the block, from 0.
define internal i32 @scan.block() #0 {
  %r = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %r
}

; T: how many blocks were launched.
define internal i32 @scan.blocks() #0 {
  %r = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  ret i32 %r
}

; T: where the shared memory of the block begins, a multiple of 128.
define internal ptr addrspace(3) @scan.shared() #0 {
  ret ptr addrspace(3) @scan_shared_memory
}

; W: the same, as a value of the warp. The driver's compiler keeps it in a register that addresses are relative to at no cost, where
; it would compute the other one again in each loop, and add it to every address.
define internal ptr addrspace(3) @scan.shared_of_warp() #0 {
  %a = ptrtoint ptr addrspace(3) @scan_shared_memory to i32
  %b = call i32 @llvm.nvvm.redux.sync.or(i32 %a, i32 -1)
  %r = inttoptr i32 %b to ptr addrspace(3)
  ret ptr addrspace(3) %r
}

; All threads of the block wait for each other; orders shared and device memory among them.
define internal void @scan.barrier() #0 {
  call void asm sideeffect "bar.sync 0;", "~{memory}"() #1
  ret void
}

; W: the lanes wait for each other; orders memory among them.
define internal void @scan.warp_barrier() #0 {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; W: the value of the lane %delta below; of a lane that has none, its own.
define internal i32 @scan.shuffle_up(i32 %value, i32 %delta) #0 {
  %r = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %value, i32 %delta, i32 0)
  ret i32 %r
}

; W: the value of the lane %delta above; of a lane that has none, its own.
define internal i32 @scan.shuffle_down(i32 %value, i32 %delta) #0 {
  %r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %value, i32 %delta, i32 31)
  ret i32 %r
}

; W: the value of lane %delta, the same for all.
define internal i32 @scan.shuffle_from(i32 %value, i32 %delta) #0 {
  %r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %value, i32 %delta, i32 31)
  ret i32 %r
}

; W: a word whose bit l says whether lane l gave true.
define internal i32 @scan.ballot(i1 %value) #0 {
  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %value)
  ret i32 %r
}

; T: bytes of a, numbered 0 to 3, and of b, 4 to 7, picked by the four low nibbles of %selector, each below 8.
define internal i32 @scan.pick_bytes(i32 %a, i32 %b, i32 %selector) #3 {
  %r = call i32 @llvm.nvvm.prmt(i32 %a, i32 %b, i32 %selector)
  ret i32 %r
}

; T: two bytes one after the other, in the low half; the high half is anything.
define internal i32 @scan.pair_bytes(i8 %first, i8 %second) #3 {
  %r = call i32 asm "{ .reg .b32 a, b; cvt.u32.u16 a, $1; cvt.u32.u16 b, $2; prmt.b32 $0, a, b, 0x40; }", "=r,c,c"(i8 %first, i8 %second) #2
  ret i32 %r
}

; T: the bits of a where %mask has ones, and of b where it has zeros.
define internal i32 @scan.select_bits(i32 %mask, i32 %a, i32 %b) #3 {
  %r = call i32 asm "lop3.b32 $0, $1, $2, $3, 0xca;", "=r,r,r,r"(i32 %mask, i32 %a, i32 %b) #2
  ret i32 %r
}

; T: the place of the highest 1 among the bits of a word; of 0 it is -1.
define internal i32 @scan.highest_bit(i32 %word) #3 {
  %r = call i32 asm "bfind.u32 $0, $1;", "=r,r"(i32 %word) #2
  ret i32 %r
}

; T: the same number, of which the optimiser knows nothing.
define internal i32 @scan.opaque(i32 %value) #3 {
  %r = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %value) #2
  ret i32 %r
}

; T: %sum and the four bytes of %word, added up.
define internal i32 @scan.add_bytes(i32 %word, i32 %sum) #3 {
  %r = call i32 @llvm.nvvm.idp4a.u.u(i32 %word, i32 16843009, i32 %sum)
  ret i32 %r
}

; T: the number that 16 bits are as an IEEE binary16 float.
define internal float @scan.from_f16(i16 %bits) #3 {
  %half = bitcast i16 %bits to half
  %r = fpext half %half to float
  ret float %r
}

; T: the bits of the nearest IEEE binary16 float, ties to even; of a NaN those of any NaN.
define internal i16 @scan.to_f16(float %value) #3 {
  %half = fptrunc float %value to half
  %r = bitcast half %half to i16
  ret i16 %r
}

; T: the bits of the nearest bfloat16, ties to even; of a NaN those of any NaN.
define internal i16 @scan.to_bf16(float %value) #3 {
  %brain = fptrunc float %value to bfloat
  %r = bitcast bfloat %brain to i16
  ret i16 %r
}

; T: the bits of a float, in a register that is nothing but bits.
define internal i32 @scan.float_bits(float %value) #3 {
  %r = call i32 asm "mov.b32 $0, $1;", "=r,f"(float %value) #2
  ret i32 %r
}

; T: the same of 64 bits.
define internal i64 @scan.double_bits(double %value) #3 {
  %r = call i64 asm "mov.b64 $0, $1;", "=l,d"(double %value) #2
  ret i64 %r
}

; T: sets up a barrier whose phases end after so many arrivals.
define internal void @scan.barrier_init(ptr addrspace(3) %barrier, i32 %count) #0 {
  %p = ptrtoint ptr addrspace(3) %barrier to i32
  call void asm sideeffect "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}"(i32 %p, i32 %count) #1
  ret void
}

; T: makes barriers that this thread set up visible to bulk copies and, after @scan.barrier, to the block.
define internal void @scan.barrier_init_fence() #0 {
  call void asm sideeffect "fence.mbarrier_init.release.cluster;", "~{memory}"() #1
  ret void
}

; T: arrives; orders what this thread did before for the threads that wait.
define internal void @scan.barrier_arrive(ptr addrspace(3) %barrier) #0 {
  %p = ptrtoint ptr addrspace(3) %barrier to i32
  call void asm sideeffect "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"(i32 %p) #1
  ret void
}

; T: arrives, and makes the phase wait for so many bytes of bulk copies besides.
define internal void @scan.barrier_expect(ptr addrspace(3) %barrier, i32 %bytes) #0 {
  %p = ptrtoint ptr addrspace(3) %barrier to i32
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"(i32 %p, i32 %bytes) #1
  ret void
}

; T: whether the phase of this parity (the first one is 0) has ended; may take a while to say no. Orders memory as an acquire
; if it has.
define internal i1 @scan.barrier_try_wait(ptr addrspace(3) %barrier, i32 %parity) #0 {
  %p = ptrtoint ptr addrspace(3) %barrier to i32
  %r = call i32 asm sideeffect "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; selp.b32 $0, 1, 0, done; }", "=r,r,r,~{memory}"(i32 %p, i32 %parity) #1
  %done = icmp ne i32 %r, 0
  ret i1 %done
}

; T: starts a copy from device memory, whose bytes count for %barrier when they have landed. Addresses and %bytes are multiples
; of 16.
define internal void @scan.bulk_load(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 %bytes, ptr addrspace(3) %barrier, i64 %policy) #0 {
  %d = ptrtoint ptr addrspace(3) %to to i32
  %p = ptrtoint ptr addrspace(3) %barrier to i32
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1], $2, [$3], $4;", "r,l,r,r,l,~{memory}"(i32 %d, ptr addrspace(1) %from, i32 %bytes, i32 %p, i64 %policy) #1
  ret void
}

; T: starts a copy to device memory, as part of the next group. Addresses and %bytes are multiples of 16.
define internal void @scan.bulk_store(ptr addrspace(1) %to, ptr addrspace(3) %from, i32 %bytes, i64 %policy) #0 {
  %s = ptrtoint ptr addrspace(3) %from to i32
  call void asm sideeffect "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [$0], [$1], $2, $3;", "l,r,r,l,~{memory}"(ptr addrspace(1) %to, i32 %s, i32 %bytes, i64 %policy) #1
  ret void
}

; T: ends a group of bulk stores.
define internal void @scan.bulk_commit() #0 {
  call void asm sideeffect "cp.async.bulk.commit_group;", "~{memory}"() #1
  ret void
}

; T: waits until all groups of this thread have read their shared memory.
define internal void @scan.bulk_wait_read() #0 {
  call void asm sideeffect "cp.async.bulk.wait_group.read 0;", "~{memory}"() #1
  ret void
}

; T: waits until all groups of this thread are in device memory.
define internal void @scan.bulk_wait() #0 {
  call void asm sideeffect "cp.async.bulk.wait_group 0;", "~{memory}"() #1
  ret void
}

; T: orders ordinary accesses of this thread to shared memory before bulk copies that are started after it.
define internal void @scan.bulk_fence() #0 {
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"() #1
  ret void
}

; T: how bulk copies use the cache: lines should stay in the second-level cache.
define internal i64 @scan.policy_keep() #0 {
  %r = call i64 asm "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l"() #2
  ret i64 %r
}

; T: how bulk copies use the cache: no preference.
define internal i64 @scan.policy_normal() #0 {
  %r = call i64 asm "createpolicy.fractional.L2::evict_normal.b64 $0, 1.0;", "=l"() #2
  ret i64 %r
}

; T: how bulk copies use the cache: lines are not needed again.
define internal i64 @scan.policy_stream() #0 {
  %r = call i64 asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l"() #2
  ret i64 %r
}

; T: 8 bytes of device memory that others write meanwhile, in one piece; orders nothing.
define internal i64 @scan.load_word(ptr addrspace(1) %from) #0 {
  %r = call i64 asm sideeffect "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}"(ptr addrspace(1) %from) #1
  ret i64 %r
}

; T: the same, 16 bytes.
define internal { i64, i64 } @scan.load_pair(ptr addrspace(1) %from) #0 {
  %r = call { i64, i64 } asm sideeffect "{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [$2]; mov.b128 {$0, $1}, t; }", "=l,=l,l,~{memory}"(ptr addrspace(1) %from) #1
  ret { i64, i64 } %r
}

; T: 16 bytes of device memory that nobody writes meanwhile, and that nobody reads again soon: they take no place in the first-level cache.
define internal { i64, i64 } @scan.load_once(ptr addrspace(1) %from) #0 {
  %r = call { i64, i64 } asm "ld.global.nc.L1::no_allocate.v2.b64 {$0, $1}, [$2];", "=l,=l,l"(ptr addrspace(1) %from) #2
  ret { i64, i64 } %r
}

; T: writes 8 bytes of device memory for others, in one piece; orders nothing.
define internal void @scan.store_word(ptr addrspace(1) %to, i64 %value) #0 {
  call void asm sideeffect "st.relaxed.gpu.global.b64 [$0], $1;", "l,l,~{memory}"(ptr addrspace(1) %to, i64 %value) #1
  ret void
}

; T: the same, 16 bytes.
define internal void @scan.store_pair(ptr addrspace(1) %to, i64 %low, i64 %high) #0 {
  call void asm sideeffect "{ .reg .b128 t; mov.b128 t, {$1, $2}; st.relaxed.gpu.global.b128 [$0], t; }", "l,l,l,~{memory}"(ptr addrspace(1) %to, i64 %low, i64 %high) #1
  ret void
}

; T: adds to 4 bytes of device memory, and gives what was there before; orders nothing.
define internal i32 @scan.add(ptr addrspace(1) %to, i32 %value) #0 {
  %r = call i32 asm sideeffect "atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"(ptr addrspace(1) %to, i32 %value) #1
  ret i32 %r
}

; T: adds to 8 bytes of device memory, and gives what was there before; orders nothing.
define internal i64 @scan.add_word(ptr addrspace(1) %to, i64 %value) #0 {
  %r = call i64 asm sideeffect "atom.relaxed.gpu.global.add.u64 $0, [$1], $2;", "=l,l,l,~{memory}"(ptr addrspace(1) %to, i64 %value) #1
  ret i64 %r
}

; T: 4 bytes of device memory that others write meanwhile; orders nothing.
define internal i32 @scan.load_control(ptr addrspace(1) %from) #0 {
  %r = call i32 asm sideeffect "ld.relaxed.gpu.global.b32 $0, [$1];", "=r,l,~{memory}"(ptr addrspace(1) %from) #1
  ret i32 %r
}

; T: writes 4 bytes of device memory for others; orders nothing.
define internal void @scan.store_control(ptr addrspace(1) %to, i32 %value) #0 {
  call void asm sideeffect "st.relaxed.gpu.global.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %to, i32 %value) #1
  ret void
}

; T: has the 32 bytes around an address fetched to the second-level cache, without waiting for them.
define internal void @scan.prefetch(ptr addrspace(1) %from) #0 {
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr addrspace(1) %from) #1
  ret void
}

; T: nanoseconds, the same clock for all blocks; it may tick in steps of a microsecond.
define internal i64 @scan.clock() #0 {
  %r = call i64 asm sideeffect "mov.u64 $0, %globaltimer;", "=l,~{memory}"() #1
  ret i64 %r
}

; T: lets about so many nanoseconds go by.
define internal void @scan.sleep(i32 %nanoseconds) #0 {
  call void asm sideeffect "nanosleep.u32 $0;", "r,~{memory}"(i32 %nanoseconds) #1
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.or(i32, i32)
declare i32 @llvm.nvvm.prmt(i32, i32, i32)

attributes #0 = { alwaysinline convergent nounwind }
attributes #1 = { convergent nounwind }
attributes #2 = { nounwind memory(none) }
attributes #3 = { alwaysinline nounwind memory(none) }
