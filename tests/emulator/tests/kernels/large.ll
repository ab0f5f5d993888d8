; As ring.ll, with 576 threads that work, and one of another warp that copies. A thread has 64 bytes of each tile: it adds to its 16
; numbers the sum, over the lanes of its warp up to its own, of their first numbers.
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
declare i32 @scan.shuffle_up(i32, i32)
declare void @scan.warp_barrier()
declare i64 @scan.policy_stream()

define void @large(ptr %args) {
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
  %full = getelementptr i8, ptr addrspace(3) %shared, i32 73728
  %done = getelementptr i8, ptr addrspace(3) %shared, i32 73744
  %is.0 = icmp eq i32 %thread, 0
  br i1 %is.0, label %init, label %ready
init:
  %full.1 = getelementptr i64, ptr addrspace(3) %full, i32 1
  %done.1 = getelementptr i64, ptr addrspace(3) %done, i32 1
  call void @scan.barrier_init(ptr addrspace(3) %full, i32 1)
  call void @scan.barrier_init(ptr addrspace(3) %full.1, i32 1)
  call void @scan.barrier_init(ptr addrspace(3) %done, i32 18)
  call void @scan.barrier_init(ptr addrspace(3) %done.1, i32 18)
  call void @scan.barrier_init_fence()
  br label %ready
ready:
  call void @scan.barrier()
  %works = icmp ult i32 %thread, 576
  br i1 %works, label %work, label %helper
helper:
  %copies = icmp eq i32 %thread, 576
  br i1 %copies, label %copy, label %end

work:
  %w = phi i32 [ 0, %ready ], [ %w.next, %arrived ]
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
  %w.bytes = mul i32 %w.stage, 36864
  %w.base = getelementptr i8, ptr addrspace(3) %shared, i32 %w.bytes
  %mine = mul i32 %thread, 64
  %place = getelementptr i8, ptr addrspace(3) %w.base, i32 %mine
  %p1 = getelementptr i8, ptr addrspace(3) %place, i32 16
  %p2 = getelementptr i8, ptr addrspace(3) %place, i32 32
  %p3 = getelementptr i8, ptr addrspace(3) %place, i32 48
  %lane = and i32 %thread, 31
  %v0 = load <4 x i32>, ptr addrspace(3) %place, align 16
  %value = extractelement <4 x i32> %v0, i32 0
  br label %step
step:
  %sum = phi i32 [ %value, %landed ], [ %next, %step ]
  %delta = phi i32 [ 1, %landed ], [ %double, %step ]
  %below = call i32 @scan.shuffle_up(i32 %sum, i32 %delta)
  %adds = icmp uge i32 %lane, %delta
  %added = select i1 %adds, i32 %below, i32 0
  %next = add i32 %sum, %added
  %double = shl i32 %delta, 1
  %more = icmp ult i32 %double, 32
  br i1 %more, label %step, label %scanned
scanned:
  %one = insertelement <4 x i32> poison, i32 %next, i32 0
  %all = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
  %s0 = add <4 x i32> %v0, %all
  store <4 x i32> %s0, ptr addrspace(3) %place, align 16
  %v1 = load <4 x i32>, ptr addrspace(3) %p1, align 16
  %s1 = add <4 x i32> %v1, %all
  store <4 x i32> %s1, ptr addrspace(3) %p1, align 16
  %v2 = load <4 x i32>, ptr addrspace(3) %p2, align 16
  %s2 = add <4 x i32> %v2, %all
  store <4 x i32> %s2, ptr addrspace(3) %p2, align 16
  %v3 = load <4 x i32>, ptr addrspace(3) %p3, align 16
  %s3 = add <4 x i32> %v3, %all
  store <4 x i32> %s3, ptr addrspace(3) %p3, align 16
  call void @scan.bulk_fence()
  call void @scan.warp_barrier()
  %leads = icmp eq i32 %lane, 0
  br i1 %leads, label %arrive, label %arrived
arrive:
  call void @scan.barrier_arrive(ptr addrspace(3) %w.done)
  br label %arrived
arrived:
  %w.next = add i32 %w, 1
  %w.more = icmp ult i32 %w.next, %tiles
  br i1 %w.more, label %work, label %end

copy:
  %c = phi i32 [ 0, %helper ], [ %c.next, %filled ]
  %c.stage = and i32 %c, 1
  %c.full = getelementptr i64, ptr addrspace(3) %full, i32 %c.stage
  %c.done = getelementptr i64, ptr addrspace(3) %done, i32 %c.stage
  %c.bytes = mul i32 %c.stage, 36864
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
  %d.offset = mul i32 %d.tile, 36864
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %d.offset
  call void @scan.bulk_store(ptr addrspace(1) %to, ptr addrspace(3) %c.base, i32 36864, i64 %policy)
  call void @scan.bulk_commit()
  call void @scan.bulk_wait_read()
  br label %drained
drained:
  %fills = icmp ult i32 %c, %tiles
  br i1 %fills, label %fill, label %filled
fill:
  %c.skipped = mul i32 %c, %blocks
  %c.tile = add i32 %c.skipped, %block
  %c.offset = mul i32 %c.tile, 36864
  %from = getelementptr i8, ptr addrspace(1) %in, i32 %c.offset
  call void @scan.barrier_expect(ptr addrspace(3) %c.full, i32 36864)
  call void @scan.bulk_load(ptr addrspace(3) %c.base, ptr addrspace(1) %from, i32 36864, ptr addrspace(3) %c.full, i64 %policy)
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
