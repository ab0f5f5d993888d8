; Adds one to each 32-bit number. A block of 96 threads takes every so-manieth tile of 1 KiB through two stages of shared memory:
; thread 64 fills and drains them by bulk copies, threads 0 to 63 work in place, barriers order them.
;
; Arguments: in, out, tiles of a block (i32). Shared memory: two stages, then the barriers full 0, full 1, done 0, done 1.
declare i32 @scan.thread()
declare i32 @scan.block()
declare i32 @scan.blocks()
declare ptr addrspace(3) @scan.shared()
declare void @scan.barrier()
declare void @scan.barrier_init(ptr addrspace(3), i32)
declare void @scan.barrier_init_fence()
declare void @scan.barrier_arrive(ptr addrspace(3))
declare void @scan.barrier_expect(ptr addrspace(3), i32)
declare i1 @scan.barrier_try_wait(ptr addrspace(3), i32)
declare void @scan.bulk_load(ptr addrspace(3), ptr addrspace(1), i32, ptr addrspace(3), i64)
declare void @scan.bulk_store(ptr addrspace(1), ptr addrspace(3), i32, i64)
declare void @scan.bulk_commit()
declare void @scan.bulk_wait_read()
declare void @scan.bulk_wait()
declare void @scan.bulk_fence()
declare i64 @scan.policy_stream()

define void @ring(ptr %args) {
start:
  %in = load ptr addrspace(1), ptr %args, align 16
  %args.8 = getelementptr i8, ptr %args, i64 8
  %out = load ptr addrspace(1), ptr %args.8, align 8
  %args.16 = getelementptr i8, ptr %args, i64 16
  %tiles = load i32, ptr %args.16, align 4
  %shared = call ptr addrspace(3) @scan.shared()
  %thread = call i32 @scan.thread()
  %block = call i32 @scan.block()
  %blocks = call i32 @scan.blocks()
  %policy = call i64 @scan.policy_stream()
  %full = getelementptr i8, ptr addrspace(3) %shared, i32 2048
  %done = getelementptr i8, ptr addrspace(3) %shared, i32 2064
  %is.0 = icmp eq i32 %thread, 0
  br i1 %is.0, label %init, label %ready
init:
  %full.1 = getelementptr i64, ptr addrspace(3) %full, i32 1
  %done.1 = getelementptr i64, ptr addrspace(3) %done, i32 1
  call void @scan.barrier_init(ptr addrspace(3) %full, i32 1)
  call void @scan.barrier_init(ptr addrspace(3) %full.1, i32 1)
  call void @scan.barrier_init(ptr addrspace(3) %done, i32 64)
  call void @scan.barrier_init(ptr addrspace(3) %done.1, i32 64)
  call void @scan.barrier_init_fence()
  br label %ready
ready:
  call void @scan.barrier()
  %works = icmp ult i32 %thread, 64
  br i1 %works, label %work, label %helper
helper:
  %copies = icmp eq i32 %thread, 64
  br i1 %copies, label %copy, label %end

work:
  %w = phi i32 [ 0, %ready ], [ %w.next, %landed ]
  %w.stage = and i32 %w, 1
  %w.round = lshr i32 %w, 1
  %w.parity = and i32 %w.round, 1
  %w.full = getelementptr i64, ptr addrspace(3) %full, i32 %w.stage
  %w.done = getelementptr i64, ptr addrspace(3) %done, i32 %w.stage
  br label %poll
poll:
  %is.full = call i1 @scan.barrier_try_wait(ptr addrspace(3) %w.full, i32 %w.parity)
  br i1 %is.full, label %landed, label %poll
landed:
  %w.bytes = mul i32 %w.stage, 1024
  %w.base = getelementptr i8, ptr addrspace(3) %shared, i32 %w.bytes
  %place = getelementptr <4 x i32>, ptr addrspace(3) %w.base, i32 %thread
  %old = load <4 x i32>, ptr addrspace(3) %place, align 16
  %new = add <4 x i32> %old, <i32 1, i32 1, i32 1, i32 1>
  store <4 x i32> %new, ptr addrspace(3) %place, align 16
  call void @scan.bulk_fence()
  call void @scan.barrier_arrive(ptr addrspace(3) %w.done)
  %w.next = add i32 %w, 1
  %w.more = icmp ult i32 %w.next, %tiles
  br i1 %w.more, label %work, label %end

copy:
  %c = phi i32 [ 0, %helper ], [ %c.next, %filled ]
  %c.stage = and i32 %c, 1
  %c.full = getelementptr i64, ptr addrspace(3) %full, i32 %c.stage
  %c.done = getelementptr i64, ptr addrspace(3) %done, i32 %c.stage
  %c.bytes = mul i32 %c.stage, 1024
  %c.base = getelementptr i8, ptr addrspace(3) %shared, i32 %c.bytes
  %drains = icmp uge i32 %c, 2
  br i1 %drains, label %before, label %drained
before:
  %d = sub i32 %c, 2
  %d.round = lshr i32 %d, 1
  %d.parity = and i32 %d.round, 1
  br label %wait
wait:
  %is.done = call i1 @scan.barrier_try_wait(ptr addrspace(3) %c.done, i32 %d.parity)
  br i1 %is.done, label %drain, label %wait
drain:
  %d.skipped = mul i32 %d, %blocks
  %d.tile = add i32 %d.skipped, %block
  %d.offset = mul i32 %d.tile, 1024
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %d.offset
  call void @scan.bulk_store(ptr addrspace(1) %to, ptr addrspace(3) %c.base, i32 1024, i64 %policy)
  call void @scan.bulk_commit()
  call void @scan.bulk_wait_read()
  br label %drained
drained:
  %fills = icmp ult i32 %c, %tiles
  br i1 %fills, label %fill, label %filled
fill:
  %c.skipped = mul i32 %c, %blocks
  %c.tile = add i32 %c.skipped, %block
  %c.offset = mul i32 %c.tile, 1024
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %c.offset
  call void @scan.barrier_expect(ptr addrspace(3) %c.full, i32 1024)
  call void @scan.bulk_load(ptr addrspace(3) %c.base, ptr addrspace(1) %from, i32 1024, ptr addrspace(3) %c.full, i64 %policy)
  br label %filled
filled:
  %c.next = add i32 %c, 1
  %last = add i32 %tiles, 2
  %c.more = icmp ult i32 %c.next, %last
  br i1 %c.more, label %copy, label %landing
landing:
  call void @scan.bulk_wait()
  br label %end
end:
  ret void
}
