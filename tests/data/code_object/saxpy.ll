target triple = "amdgcn-amd-amdhsa"
@lds = internal addrspace(3) global [64 x i32] poison, align 16
define amdgpu_kernel void @saxpy(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n, float %a, i64 %s) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr float, ptr addrspace(1) %x, i32 %t
  %q = getelementptr float, ptr addrspace(1) %y, i32 %t
  %v = load float, ptr addrspace(1) %p
  %w = fmul float %v, %a
  %l = getelementptr i32, ptr addrspace(3) @lds, i32 %t
  store volatile i32 %n, ptr addrspace(3) %l
  store float %w, ptr addrspace(1) %q
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = { "amdgpu-flat-work-group-size"="64,64" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-ptr" "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "uniform-work-group-size"="true" "amdgpu-no-hostcall-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-default-queue" "amdgpu-no-completion-action" "amdgpu-no-lds-kernel-id" "amdgpu-no-flat-scratch-init"}
