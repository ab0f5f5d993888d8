; Each block of 128 threads adds its 128 numbers up in shared memory, and writes the sum.
declare i32 @scan.thread()
declare i32 @scan.block()
declare ptr addrspace(3) @scan.shared()
declare void @scan.barrier()

define void @reduce(ptr %args) {
start:
  %in = load ptr addrspace(1), ptr %args, align 16
  %second = getelementptr i8, ptr %args, i64 8
  %out = load ptr addrspace(1), ptr %second, align 8
  %shared = call ptr addrspace(3) @scan.shared()
  %thread = call i32 @scan.thread()
  %block = call i32 @scan.block()
  %first = mul i32 %block, 128
  %index = add i32 %first, %thread
  %from = getelementptr i32, ptr addrspace(1) %in, i32 %index
  %value = load i32, ptr addrspace(1) %from, align 4
  %own = getelementptr i32, ptr addrspace(3) %shared, i32 %thread
  store i32 %value, ptr addrspace(3) %own, align 4
  br label %level
level:
  %half = phi i32 [ 64, %start ], [ %quarter, %next ]
  call void @scan.barrier()
  %adds = icmp ult i32 %thread, %half
  br i1 %adds, label %add, label %next
add:
  %other = getelementptr i32, ptr addrspace(3) %own, i32 %half
  %a = load i32, ptr addrspace(3) %own, align 4
  %b = load i32, ptr addrspace(3) %other, align 4
  %sum = add i32 %a, %b
  store i32 %sum, ptr addrspace(3) %own, align 4
  br label %next
next:
  %quarter = lshr i32 %half, 1
  %more = icmp ne i32 %quarter, 0
  br i1 %more, label %level, label %last
last:
  %is.first = icmp eq i32 %thread, 0
  br i1 %is.first, label %write, label %end
write:
  %total = load i32, ptr addrspace(3) %own, align 4
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %block
  store i32 %total, ptr addrspace(1) %to, align 4
  br label %end
end:
  ret void
}
