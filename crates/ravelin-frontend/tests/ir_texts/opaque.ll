; A text with opaque pointers and debug records, as clang 19 and rustc write it.
source_filename = "ring.c"
target triple = "x86_64-unknown-linux-gnu"

%"core::cell<[u8; 2]>" = type { [2 x i8], i8 }
%struct.slot = type { i64, ptr }
%union.both = type { double }

@ring = dso_local global %struct.slot { i64 1, ptr @ring }, align 8, !dbg !0
@buf = dso_local global [2 x [3 x i32]] zeroinitializer, align 16, !dbg !3
@vtable.0 = private unnamed_addr constant <{ ptr, [16 x i8], ptr }> <{ ptr @"drop$u20$it", [16 x i8] c"(\00\00\00\00\00\00\00\08\00\00\00\00\00\00\00", ptr null }>, align 8
@wide = global i128 -1, align 16
@mask = constant i64 u0xFF

declare !dbg !9 void @"drop$u20$it"(ptr noalias noundef align 8 dereferenceable(24), i64 range(i64 0, 10)) unnamed_addr #0
declare i32 @personality(...)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture)

define internal fastcc noundef range(i32 0, 7) i32 @take(ptr noundef readonly byval(%struct.slot) align 8 captures(none) %slot, i32 noundef %0) unnamed_addr #1 personality ptr @personality !dbg !10 {
start:
  %x = alloca i32, align 4
  %big = alloca [2 x i32], i32 %0, align 4
    #dbg_declare(ptr %x, !20, !DIExpression(), !30)
    #dbg_value(i32 %0, !21, !DIExpression(), !30)
    #dbg_value(i32 %0, !22, !DIExpression(DW_OP_LLVM_fragment, 0, 32), !30)
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  store i32 %0, ptr %x, align 4, !dbg !30
  %p = getelementptr inbounds nuw %struct.slot, ptr %slot, i32 0, i32 1
  %1 = load atomic ptr, ptr %p acquire, align 8, !dbg !DILocation(line: 3, column: 1, scope: !10)
  %2 = icmp samesign ugt i32 %0, 5
  %3 = zext nneg i32 %0 to i64
  %4 = trunc nuw nsw i64 %3 to i32
  br i1 %2, label %"bb 1", label %bb2

"bb 1":
  %5 = invoke i32 %1(ptr nonnull @ring, i64 %3)
          to label %bb2 unwind label %cleanup, !dbg !30

bb2:
  %6 = phi i32 [ %5, %"bb 1" ], [ %4, %start ]
  %7 = or disjoint i32 %6, 1
  %8 = freeze i32 %7
  call void @llvm.assume(i1 true) [ "align"(ptr %1, i64 8) ]
  ret i32 %8

cleanup:
  %9 = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  %10 = atomicrmw uinc_wrap ptr @wide, i32 4 monotonic, align 4
  resume { ptr, i32 } %9
}

declare void @llvm.assume(i1 noundef)

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "ring", scope: null, file: !61, line: 1, type: !40)
!3 = !DIGlobalVariableExpression(var: !4, expr: !DIExpression())
!4 = distinct !DIGlobalVariable(name: "buf", scope: null, file: !61, line: 2, type: !50)
!9 = !DISubprogram(name: "drop", file: !61, line: 9)
!10 = distinct !DISubprogram(name: "take", scope: !61, file: !61, line: 4)
!20 = !DILocalVariable(name: "x", scope: !10, file: !61, line: 5, type: !71)
!21 = !DILocalVariable(name: "count", arg: 2, scope: !10, file: !61, line: 4, type: !71)
!22 = !DILocalVariable(name: "half", scope: !10, file: !61, line: 4, type: !71)
!30 = !DILocation(line: 6, column: 2, scope: !10, inlinedAt: !31)
!31 = distinct !DILocation(line: 9, scope: !10)
!40 = !DIDerivedType(tag: DW_TAG_typedef, name: "slot_t", file: !61, line: 1, baseType: !41)
!41 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "slot", file: !61, line: 1, size: 128, elements: !42)
!42 = !{!43, !44, !45}
!43 = !DIDerivedType(tag: DW_TAG_member, name: "low", scope: !41, baseType: !71, size: 32)
!44 = !DIDerivedType(tag: DW_TAG_member, name: "high", scope: !41, baseType: !46, size: 32, offset: 32)
!45 = !DIDerivedType(tag: DW_TAG_member, name: "next", scope: !41, baseType: !47, size: 64, offset: 64)
!46 = !DIDerivedType(tag: DW_TAG_atomic_type, baseType: !71)
!47 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !40, size: 64)
!50 = !DICompositeType(tag: DW_TAG_array_type, baseType: !71, size: 192, elements: !51)
!51 = !{!52, !53}
!52 = !DISubrange(count: 2)
!53 = !DISubrange(count: 3)
!61 = !DIFile(filename: "/src/ring.c", directory: "/home/me")
!71 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
