; A text with typed pointers, as clang 14 writes it.
source_filename = "stack.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

module asm ".globl nothing"

%struct.node = type { i32, %struct.node* }
%struct.queue = type { i16, [4 x %struct.node], i8, i64 }
%struct.packed = type <{ i8, i32 }>
%struct.hidden = type opaque

$inline = comdat any

@head = dso_local global %struct.node* null, align 8, !dbg !0
@ring = internal global %struct.queue zeroinitializer, align 8
@text = private unnamed_addr constant [4 x i8] c"a\0A\\\00", align 1
@table = dso_local global [3 x i32] [i32 1, i32 -2, i32 255], align 4
@pointer = global i8* getelementptr inbounds ([4 x i8], [4 x i8]* @text, i32 0, i32 1), align 8
@bytes = global <{ i8, i32 }> <{ i8 255, i32 7 }>
@mine = internal thread_local(initialexec) global i1 true
@far = external dso_local global i64, align 8
@other = alias i64, i64* @far
@part = alias i32, getelementptr ([3 x i32], [3 x i32]* @table, i64 0, i64 1)
@calls = global void (i8*, ...)* @print

declare void @print(i8* nocapture readonly, ...) #1
declare void @llvm.dbg.declare(metadata, metadata, metadata)

; Function Attrs: nounwind
define dso_local i32 @push(%struct.node* noundef %0, i32 signext %by) local_unnamed_addr #0 comdat($inline) !dbg !10 {
  %2 = alloca %struct.node*, align 8
  call void @llvm.dbg.declare(metadata %struct.node** %2, metadata !20, metadata !DIExpression()), !dbg !30
  store %struct.node* %0, %struct.node** %2, align 8, !tbaa !40
  br label %3

3:                                                ; preds = %5, %1
  %4 = phi i32 [ 0, %1 ], [ %8, %5 ]
  switch i32 %4, label %5 [
    i32 1, label %5
    i32 -7, label %12
  ], !dbg !30

5:
  %6 = cmpxchg weak i64* bitcast (%struct.node** @head to i64*), i64 1, i64 2 acq_rel monotonic, align 8
  %7 = extractvalue { i64, i1 } %6, 1
  %8 = add nuw nsw i32 %4, 1
  %9 = load atomic i64, i64* @far syncscope("agent") unordered, align 8
  store atomic volatile i32 %8, i32* getelementptr inbounds (%struct.queue, %struct.queue* @ring, i32 0, i32 1, i64 2, i32 0) release, align 4
  %10 = atomicrmw umax i32* bitcast ([3 x i32]* @table to i32*), i32 %by seq_cst
  fence syncscope("singlethread") acquire
  fence seq_cst
  call void asm sideeffect "mfence", "~{memory}"() #2, !srcloc !50
  %11 = call i32 (i32, ...) bitcast (void (i8*, ...)* @print to i32 (i32, ...)*)(i32 signext 1, double 1.000000e+00) #2 [ "deopt"(i32 %8) ]
  br i1 %7, label %3, label %12, !llvm.loop !51

12:
  %13 = tail call fast float @llvm.sqrt.f32(float 0x3FF0000000000000)
  %14 = va_arg i8** undef, i32
  %15 = icmp ult i8* null, inttoptr (i64 8 to i8*)
  %16 = select i1 %15, i32 %by, i32 undef
  %17 = insertelement <2 x i32> <i32 1, i32 2>, i32 %14, i32 0
  ret i32 %16
}

declare float @llvm.sqrt.f32(float)

attributes #0 = { nounwind "frame-pointer"="all" }

!llvm.dbg.cu = !{!60}
!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "head", scope: !60, file: !61, line: 3, type: !70, isLocal: false)
!10 = distinct !DISubprogram(name: "push", scope: !61, file: !61, line: 5, type: !11, scopeLine: 5, unit: !60)
!20 = !DILocalVariable(name: "new", arg: 1, scope: !21, file: !61, line: 5, type: !70)
!21 = distinct !DILexicalBlock(scope: !10, file: !61, line: 6, column: 3)
!30 = !DILocation(line: 7, column: 9, scope: !21)
!60 = distinct !DICompileUnit(language: DW_LANG_C99, file: !61, producer: "clang", isOptimized: true)
!61 = !DIFile(filename: "stack.c", directory: "/home/me")
!70 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !71, size: 64)
!71 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
