; An inclusive sum of 32-bit numbers, 32 at a time. A block of one warp takes a tile by ticket, adds it up by shuffles, waits for the sum
; before it in a word {sum, tag}, and publishes its own.
;
; Arguments: in, out, words (one a tile), ticket (i32), all zero but `in`. The tag of tile t is t + 1.
declare i32 @scan.thread()
declare i32 @scan.shuffle_up(i32, i32)
declare i32 @scan.shuffle_from(i32, i32)
declare i32 @scan.ballot(i1)
declare i32 @scan.add(ptr addrspace(1), i32)
declare i64 @scan.load_word(ptr addrspace(1))
declare void @scan.store_word(ptr addrspace(1), i64)
declare void @scan.sleep(i32)

define void @chain(ptr %args) {
start:
  %in = load ptr addrspace(1), ptr %args, align 16
  %args.8 = getelementptr i8, ptr %args, i64 8
  %out = load ptr addrspace(1), ptr %args.8, align 8
  %args.16 = getelementptr i8, ptr %args, i64 16
  %words = load ptr addrspace(1), ptr %args.16, align 16
  %args.24 = getelementptr i8, ptr %args, i64 24
  %counter = load ptr addrspace(1), ptr %args.24, align 8
  %lane = call i32 @scan.thread()
  %leads = icmp eq i32 %lane, 0
  br i1 %leads, label %draw, label %drawn
draw:
  %mine = call i32 @scan.add(ptr addrspace(1) %counter, i32 1)
  br label %drawn
drawn:
  %maybe = phi i32 [ 0, %start ], [ %mine, %draw ]
  %ticket = call i32 @scan.shuffle_from(i32 %maybe, i32 0)
  %skipped = mul i32 %ticket, 32
  %index = add i32 %skipped, %lane
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %index
  %value = load i32, ptr addrspace(1) %from, align 4
  br label %step
step:
  %sum = phi i32 [ %value, %drawn ], [ %next, %step ]
  %delta = phi i32 [ 1, %drawn ], [ %double, %step ]
  %below = call i32 @scan.shuffle_up(i32 %sum, i32 %delta)
  %adds = icmp uge i32 %lane, %delta
  %added = select i1 %adds, i32 %below, i32 0
  %next = add i32 %sum, %added
  %double = shl i32 %delta, 1
  %more = icmp ult i32 %double, 32
  br i1 %more, label %step, label %scanned
scanned:
  %total = call i32 @scan.shuffle_from(i32 %next, i32 31)
  %is.first = icmp eq i32 %ticket, 0
  br i1 %is.first, label %known, label %look
look:
  %before = sub i32 %ticket, 1
  %there = getelementptr i64, ptr addrspace(1) %words, i32 %before
  br label %poll
poll:
  %word = call i64 @scan.load_word(ptr addrspace(1) %there)
  %high = lshr i64 %word, 32
  %tag = trunc i64 %high to i32
  %good = icmp eq i32 %tag, %ticket
  %votes = call i32 @scan.ballot(i1 %good)
  %all = icmp eq i32 %votes, -1
  br i1 %all, label %found, label %wait
wait:
  call void @scan.sleep(i32 20)
  br label %poll
found:
  %carried = trunc i64 %word to i32
  br label %known
known:
  %carry = phi i32 [ 0, %scanned ], [ %carried, %found ]
  br i1 %leads, label %publish, label %write
publish:
  %prefix = add i32 %carry, %total
  %low = zext i32 %prefix to i64
  %my.tag = add i32 %ticket, 1
  %wide = zext i32 %my.tag to i64
  %shifted = shl i64 %wide, 32
  %packed = or i64 %shifted, %low
  %here = getelementptr i64, ptr addrspace(1) %words, i32 %ticket
  call void @scan.store_word(ptr addrspace(1) %here, i64 %packed)
  br label %write
write:
  %result = add i32 %carry, %next
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %index
  store i32 %result, ptr addrspace(1) %to, align 4
  ret void
}
