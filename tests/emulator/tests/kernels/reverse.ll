; Each warp of a block reverses its 32 numbers through shared memory.
declare i32 @scan.thread()
declare ptr addrspace(3) @scan.shared()
declare void @scan.warp_barrier()

define void @reverse(ptr %args) {
  %buffer = load ptr addrspace(1), ptr %args, align 16
  %shared = call ptr addrspace(3) @scan.shared()
  %thread = call i32 @scan.thread()
  %there = xor i32 %thread, 31
  %place = getelementptr i32, ptr addrspace(1) %buffer, i32 %thread
  %value = load i32, ptr addrspace(1) %place, align 4
  %to = getelementptr i32, ptr addrspace(3) %shared, i32 %there
  store i32 %value, ptr addrspace(3) %to, align 4
  call void @scan.warp_barrier()
  %from = getelementptr i32, ptr addrspace(3) %shared, i32 %thread
  %other = load i32, ptr addrspace(3) %from, align 4
  store i32 %other, ptr addrspace(1) %place, align 4
  ret void
}
