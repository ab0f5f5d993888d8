; Wrong on purpose: block 0 stores a value and then a flag, block 1 waits for the flag and then loads the value. Nothing orders the two
; stores, so they should have been one.
;
; Arguments: value, flag, result.
declare i32 @scan.thread()
declare i32 @scan.block()
declare i64 @scan.load_word(ptr addrspace(1))
declare void @scan.store_word(ptr addrspace(1), i64)

define void @flag(ptr %args) {
  %value = load ptr addrspace(1), ptr %args, align 16
  %args.8 = getelementptr i8, ptr %args, i64 8
  %flag = load ptr addrspace(1), ptr %args.8, align 8
  %args.16 = getelementptr i8, ptr %args, i64 16
  %result = load ptr addrspace(1), ptr %args.16, align 8
  %thread = call i32 @scan.thread()
  %block = call i32 @scan.block()
  %leads = icmp eq i32 %thread, 0
  br i1 %leads, label %one, label %end
one:
  %sends = icmp eq i32 %block, 0
  br i1 %sends, label %send, label %poll
send:
  call void @scan.store_word(ptr addrspace(1) %value, i64 42)
  call void @scan.store_word(ptr addrspace(1) %flag, i64 1)
  br label %end
poll:
  %set = call i64 @scan.load_word(ptr addrspace(1) %flag)
  %is.set = icmp eq i64 %set, 1
  br i1 %is.set, label %receive, label %poll
receive:
  %received = call i64 @scan.load_word(ptr addrspace(1) %value)
  store i64 %received, ptr addrspace(1) %result, align 8
  br label %end
end:
  ret void
}
