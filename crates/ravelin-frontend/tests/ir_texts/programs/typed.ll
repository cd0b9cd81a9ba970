target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%union.pthread_mutex_t = type { %struct.__pthread_mutex_s }
%struct.__pthread_mutex_s = type { i32, i32, i32, i32, i32, i16, i16, %struct.__pthread_internal_list }
%struct.__pthread_internal_list = type { %struct.__pthread_internal_list*, %struct.__pthread_internal_list* }
%struct.pair = type { i32, %struct.anon }
%struct.anon = type { [2 x i16] }
%struct.node = type { %struct.node*, i32 }
%union.pthread_mutexattr_t = type { i32 }
%union.pthread_attr_t = type { i64, [48 x i8] }

@lock = internal global %union.pthread_mutex_t zeroinitializer, align 8
@counts = internal global [4 x i32] zeroinitializer, align 16
@.str = private unnamed_addr constant [15 x i8] c"counts[3] >= 0\00", align 1
@.str.1 = private unnamed_addr constant [11 x i8] c"program1.c\00", align 1
@__PRETTY_FUNCTION__.main = private unnamed_addr constant [15 x i8] c"int main(void)\00", align 1
@one = internal global %struct.pair zeroinitializer, align 4
@other = internal global %struct.pair zeroinitializer, align 4
@top = internal global %struct.node* null, align 8
@.str.2 = private unnamed_addr constant [16 x i8] c"node->value > 0\00", align 1
@__PRETTY_FUNCTION__.worker = private unnamed_addr constant [21 x i8] c"void *worker(void *)\00", align 1

; Function Attrs: nounwind uwtable
define dso_local i32 @main() #0 {
entry:
  %retval = alloca i32, align 4
  %threads = alloca [2 x i64], align 16
  %i = alloca i64, align 8
  %i2 = alloca i32, align 4
  store i32 0, i32* %retval, align 4
  %0 = bitcast [2 x i64]* %threads to i8*
  call void @llvm.lifetime.start.p0i8(i64 16, i8* %0) #7
  %call = call i32 @pthread_mutex_init(%union.pthread_mutex_t* noundef @lock, %union.pthread_mutexattr_t* noundef null) #7
  %1 = bitcast i64* %i to i8*
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %1) #7
  store i64 0, i64* %i, align 8, !tbaa !5
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %2 = load i64, i64* %i, align 8, !tbaa !5
  %cmp = icmp slt i64 %2, 2
  br i1 %cmp, label %for.body, label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.cond
  %3 = bitcast i64* %i to i8*
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %3) #7
  br label %for.end

for.body:                                         ; preds = %for.cond
  %4 = load i64, i64* %i, align 8, !tbaa !5
  %arrayidx = getelementptr inbounds [2 x i64], [2 x i64]* %threads, i64 0, i64 %4
  %5 = load i64, i64* %i, align 8, !tbaa !5
  %6 = inttoptr i64 %5 to i8*
  %call1 = call i32 @pthread_create(i64* noundef %arrayidx, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @worker, i8* noundef %6) #7
  br label %for.inc

for.inc:                                          ; preds = %for.body
  %7 = load i64, i64* %i, align 8, !tbaa !5
  %inc = add nsw i64 %7, 1
  store i64 %inc, i64* %i, align 8, !tbaa !5
  br label %for.cond, !llvm.loop !9

for.end:                                          ; preds = %for.cond.cleanup
  %8 = bitcast i32* %i2 to i8*
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %8) #7
  store i32 0, i32* %i2, align 4, !tbaa !12
  br label %for.cond3

for.cond3:                                        ; preds = %for.inc9, %for.end
  %9 = load i32, i32* %i2, align 4, !tbaa !12
  %cmp4 = icmp slt i32 %9, 2
  br i1 %cmp4, label %for.body6, label %for.cond.cleanup5

for.cond.cleanup5:                                ; preds = %for.cond3
  %10 = bitcast i32* %i2 to i8*
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %10) #7
  br label %for.end11

for.body6:                                        ; preds = %for.cond3
  %11 = load i32, i32* %i2, align 4, !tbaa !12
  %idxprom = sext i32 %11 to i64
  %arrayidx7 = getelementptr inbounds [2 x i64], [2 x i64]* %threads, i64 0, i64 %idxprom
  %12 = load i64, i64* %arrayidx7, align 8, !tbaa !5
  %call8 = call i32 @pthread_join(i64 noundef %12, i8** noundef null)
  br label %for.inc9

for.inc9:                                         ; preds = %for.body6
  %13 = load i32, i32* %i2, align 4, !tbaa !12
  %inc10 = add nsw i32 %13, 1
  store i32 %inc10, i32* %i2, align 4, !tbaa !12
  br label %for.cond3, !llvm.loop !14

for.end11:                                        ; preds = %for.cond.cleanup5
  %14 = load i32, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 3), align 4, !tbaa !12
  %cmp12 = icmp sge i32 %14, 0
  br i1 %cmp12, label %if.then, label %if.else

if.then:                                          ; preds = %for.end11
  br label %if.end

if.else:                                          ; preds = %for.end11
  call void @__assert_fail(i8* noundef getelementptr inbounds ([15 x i8], [15 x i8]* @.str, i64 0, i64 0), i8* noundef getelementptr inbounds ([11 x i8], [11 x i8]* @.str.1, i64 0, i64 0), i32 noundef 39, i8* noundef getelementptr inbounds ([15 x i8], [15 x i8]* @__PRETTY_FUNCTION__.main, i64 0, i64 0)) #8
  unreachable

if.end:                                           ; preds = %if.then
  %15 = bitcast [2 x i64]* %threads to i8*
  call void @llvm.lifetime.end.p0i8(i64 16, i8* %15) #7
  ret i32 0
}

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: nounwind
declare i32 @pthread_mutex_init(%union.pthread_mutex_t* noundef, %union.pthread_mutexattr_t* noundef) #2

; Function Attrs: nounwind
declare i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef) #2

; Function Attrs: nounwind uwtable
define internal i8* @worker(i8* noundef %argument) #0 {
entry:
  %retval = alloca i8*, align 8
  %argument.addr = alloca i8*, align 8
  %me = alloca i32, align 4
  %i = alloca i32, align 4
  %cleanup.dest.slot = alloca i32, align 4
  %node = alloca %struct.node*, align 8
  %atomic-temp = alloca %struct.node*, align 8
  store i8* %argument, i8** %argument.addr, align 8, !tbaa !15
  %0 = bitcast i32* %me to i8*
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %0) #7
  %1 = load i8*, i8** %argument.addr, align 8, !tbaa !15
  %2 = ptrtoint i8* %1 to i64
  %conv = trunc i64 %2 to i32
  store i32 %conv, i32* %me, align 4, !tbaa !12
  %3 = load i32, i32* %me, align 4, !tbaa !12
  %add = add nsw i32 %3, 1
  call void @push(i32 noundef %add)
  %call = call i32 @pthread_mutex_lock(%union.pthread_mutex_t* noundef @lock) #7
  %4 = bitcast i32* %i to i8*
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %4) #7
  store i32 0, i32* %i, align 4, !tbaa !12
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %5 = load i32, i32* %i, align 4, !tbaa !12
  %cmp = icmp slt i32 %5, 3
  br i1 %cmp, label %for.body, label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.cond
  %6 = bitcast i32* %i to i8*
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %6) #7
  br label %for.end

for.body:                                         ; preds = %for.cond
  %7 = load i32, i32* %i, align 4, !tbaa !12
  %8 = load i32, i32* %me, align 4, !tbaa !12
  %shl = shl i32 %7, %8
  %9 = load i32, i32* %me, align 4, !tbaa !12
  %10 = load i32, i32* %i, align 4, !tbaa !12
  %add2 = add nsw i32 %9, %10
  %and = and i32 %add2, 3
  %idxprom = sext i32 %and to i64
  %arrayidx = getelementptr inbounds [4 x i32], [4 x i32]* @counts, i64 0, i64 %idxprom
  %11 = load i32, i32* %arrayidx, align 4, !tbaa !12
  %add3 = add nsw i32 %11, %shl
  store i32 %add3, i32* %arrayidx, align 4, !tbaa !12
  br label %for.inc

for.inc:                                          ; preds = %for.body
  %12 = load i32, i32* %i, align 4, !tbaa !12
  %inc = add nsw i32 %12, 1
  store i32 %inc, i32* %i, align 4, !tbaa !12
  br label %for.cond, !llvm.loop !17

for.end:                                          ; preds = %for.cond.cleanup
  %13 = load i32, i32* %me, align 4, !tbaa !12
  %idxprom4 = sext i32 %13 to i64
  %arrayidx5 = getelementptr inbounds [4 x i32], [4 x i32]* @counts, i64 0, i64 %idxprom4
  %14 = load i32, i32* %arrayidx5, align 4, !tbaa !12
  %conv6 = trunc i32 %14 to i16
  %15 = load i32, i32* %me, align 4, !tbaa !12
  %idxprom7 = sext i32 %15 to i64
  %arrayidx8 = getelementptr inbounds [2 x i16], [2 x i16]* getelementptr inbounds (%struct.pair, %struct.pair* @one, i32 0, i32 1, i32 0), i64 0, i64 %idxprom7
  store i16 %conv6, i16* %arrayidx8, align 2, !tbaa !18
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 bitcast (%struct.pair* @other to i8*), i8* align 4 bitcast (%struct.pair* @one to i8*), i64 8, i1 false), !tbaa.struct !20
  call void @llvm.memset.p0i8.i64(i8* align 4 bitcast (%struct.pair* @one to i8*), i8 0, i64 8, i1 false)
  %call9 = call i32 @pthread_mutex_unlock(%union.pthread_mutex_t* noundef @lock) #7
  %16 = load i32, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 0), align 16, !tbaa !12
  switch i32 %16, label %sw.default [
    i32 0, label %sw.bb
    i32 3, label %sw.bb10
  ]

sw.bb:                                            ; preds = %for.end
  store i8* null, i8** %retval, align 8
  store i32 1, i32* %cleanup.dest.slot, align 4
  br label %cleanup

sw.bb10:                                          ; preds = %for.end
  %17 = load i32, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 1), align 4, !tbaa !12
  %dec = add nsw i32 %17, -1
  store i32 %dec, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 1), align 4, !tbaa !12
  br label %sw.epilog

sw.default:                                       ; preds = %for.end
  %18 = load i32, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 1), align 4, !tbaa !12
  %cmp11 = icmp sgt i32 %18, 2
  %19 = zext i1 %cmp11 to i64
  %cond = select i1 %cmp11, i32 5, i32 7
  store i32 %cond, i32* getelementptr inbounds ([4 x i32], [4 x i32]* @counts, i64 0, i64 2), align 8, !tbaa !12
  br label %sw.epilog

sw.epilog:                                        ; preds = %sw.default, %sw.bb10
  %20 = bitcast %struct.node** %node to i8*
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %20) #7
  %21 = bitcast %struct.node** %atomic-temp to i64*
  %22 = load atomic i64, i64* bitcast (%struct.node** @top to i64*) seq_cst, align 8
  store i64 %22, i64* %21, align 8
  %23 = bitcast i64* %21 to %struct.node**
  %24 = load %struct.node*, %struct.node** %23, align 8, !tbaa !15
  store %struct.node* %24, %struct.node** %node, align 8, !tbaa !15
  %25 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %tobool = icmp ne %struct.node* %25, null
  br i1 %tobool, label %if.then, label %if.end16

if.then:                                          ; preds = %sw.epilog
  %26 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %value = getelementptr inbounds %struct.node, %struct.node* %26, i32 0, i32 1
  %27 = load i32, i32* %value, align 8, !tbaa !22
  %cmp13 = icmp sgt i32 %27, 0
  br i1 %cmp13, label %if.then15, label %if.else

if.then15:                                        ; preds = %if.then
  br label %if.end

if.else:                                          ; preds = %if.then
  call void @__assert_fail(i8* noundef getelementptr inbounds ([16 x i8], [16 x i8]* @.str.2, i64 0, i64 0), i8* noundef getelementptr inbounds ([11 x i8], [11 x i8]* @.str.1, i64 0, i64 0), i32 noundef 31, i8* noundef getelementptr inbounds ([21 x i8], [21 x i8]* @__PRETTY_FUNCTION__.worker, i64 0, i64 0)) #8
  unreachable

if.end:                                           ; preds = %if.then15
  %28 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %29 = bitcast %struct.node* %28 to i8*
  call void @free(i8* noundef %29) #7
  br label %if.end16

if.end16:                                         ; preds = %if.end, %sw.epilog
  %30 = load i8*, i8** %argument.addr, align 8, !tbaa !15
  store i8* %30, i8** %retval, align 8
  store i32 1, i32* %cleanup.dest.slot, align 4
  %31 = bitcast %struct.node** %node to i8*
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %31) #7
  br label %cleanup

cleanup:                                          ; preds = %if.end16, %sw.bb
  %32 = bitcast i32* %me to i8*
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %32) #7
  %33 = load i8*, i8** %retval, align 8
  ret i8* %33
}

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

declare i32 @pthread_join(i64 noundef, i8** noundef) #3

; Function Attrs: noreturn nounwind
declare void @__assert_fail(i8* noundef, i8* noundef, i32 noundef, i8* noundef) #4

; Function Attrs: nounwind uwtable
define internal void @push(i32 noundef %value) #0 {
entry:
  %value.addr = alloca i32, align 4
  %node = alloca %struct.node*, align 8
  %atomic-temp = alloca %struct.node*, align 8
  %.atomictmp = alloca %struct.node*, align 8
  %cmpxchg.bool = alloca i8, align 1
  store i32 %value, i32* %value.addr, align 4, !tbaa !12
  %0 = bitcast %struct.node** %node to i8*
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %0) #7
  %call = call noalias i8* @malloc(i64 noundef 16) #7
  %1 = bitcast i8* %call to %struct.node*
  store %struct.node* %1, %struct.node** %node, align 8, !tbaa !15
  %2 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %tobool = icmp ne %struct.node* %2, null
  br i1 %tobool, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  call void @abort() #8
  unreachable

if.end:                                           ; preds = %entry
  %3 = load i32, i32* %value.addr, align 4, !tbaa !12
  %4 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %value1 = getelementptr inbounds %struct.node, %struct.node* %4, i32 0, i32 1
  store i32 %3, i32* %value1, align 8, !tbaa !22
  %5 = bitcast %struct.node** %atomic-temp to i64*
  %6 = load atomic i64, i64* bitcast (%struct.node** @top to i64*) monotonic, align 8
  store i64 %6, i64* %5, align 8
  %7 = bitcast i64* %5 to %struct.node**
  %8 = load %struct.node*, %struct.node** %7, align 8, !tbaa !15
  %9 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %next = getelementptr inbounds %struct.node, %struct.node* %9, i32 0, i32 0
  store %struct.node* %8, %struct.node** %next, align 8, !tbaa !24
  br label %while.cond

while.cond:                                       ; preds = %while.body, %if.end
  %10 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  %next2 = getelementptr inbounds %struct.node, %struct.node* %10, i32 0, i32 0
  %11 = load %struct.node*, %struct.node** %node, align 8, !tbaa !15
  store %struct.node* %11, %struct.node** %.atomictmp, align 8, !tbaa !15
  %12 = bitcast %struct.node** %next2 to i64*
  %13 = bitcast %struct.node** %.atomictmp to i64*
  %14 = load i64, i64* %12, align 8
  %15 = load i64, i64* %13, align 8
  %16 = cmpxchg weak i64* bitcast (%struct.node** @top to i64*), i64 %14, i64 %15 release monotonic, align 8
  %17 = extractvalue { i64, i1 } %16, 0
  %18 = extractvalue { i64, i1 } %16, 1
  br i1 %18, label %cmpxchg.continue, label %cmpxchg.store_expected

cmpxchg.store_expected:                           ; preds = %while.cond
  store i64 %17, i64* %12, align 8
  br label %cmpxchg.continue

cmpxchg.continue:                                 ; preds = %cmpxchg.store_expected, %while.cond
  %frombool = zext i1 %18 to i8
  store i8 %frombool, i8* %cmpxchg.bool, align 1, !tbaa !25
  %19 = load i8, i8* %cmpxchg.bool, align 1, !tbaa !25, !range !27
  %tobool3 = trunc i8 %19 to i1
  %lnot = xor i1 %tobool3, true
  br i1 %lnot, label %while.body, label %while.end

while.body:                                       ; preds = %cmpxchg.continue
  br label %while.cond, !llvm.loop !28

while.end:                                        ; preds = %cmpxchg.continue
  %20 = bitcast %struct.node** %node to i8*
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %20) #7
  ret void
}

; Function Attrs: nounwind
declare i32 @pthread_mutex_lock(%union.pthread_mutex_t* noundef) #2

; Function Attrs: argmemonly nofree nounwind willreturn
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i64, i1 immarg) #5

; Function Attrs: argmemonly nofree nounwind willreturn writeonly
declare void @llvm.memset.p0i8.i64(i8* nocapture writeonly, i8, i64, i1 immarg) #6

; Function Attrs: nounwind
declare i32 @pthread_mutex_unlock(%union.pthread_mutex_t* noundef) #2

; Function Attrs: nounwind
declare void @free(i8* noundef) #2

; Function Attrs: nounwind
declare noalias i8* @malloc(i64 noundef) #2

; Function Attrs: noreturn nounwind
declare void @abort() #4

attributes #0 = { nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { argmemonly nofree nosync nounwind willreturn }
attributes #2 = { nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #4 = { noreturn nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { argmemonly nofree nounwind willreturn }
attributes #6 = { argmemonly nofree nounwind willreturn writeonly }
attributes #7 = { nounwind }
attributes #8 = { noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 1}
!4 = !{!"Debian clang version 14.0.6"}
!5 = !{!6, !6, i64 0}
!6 = !{!"long", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C/C++ TBAA"}
!9 = distinct !{!9, !10, !11}
!10 = !{!"llvm.loop.mustprogress"}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = !{!13, !13, i64 0}
!13 = !{!"int", !7, i64 0}
!14 = distinct !{!14, !10, !11}
!15 = !{!16, !16, i64 0}
!16 = !{!"any pointer", !7, i64 0}
!17 = distinct !{!17, !10, !11}
!18 = !{!19, !19, i64 0}
!19 = !{!"short", !7, i64 0}
!20 = !{i64 0, i64 4, !12, i64 4, i64 4, !21}
!21 = !{!7, !7, i64 0}
!22 = !{!23, !13, i64 8}
!23 = !{!"node", !16, i64 0, !13, i64 8}
!24 = !{!23, !16, i64 0}
!25 = !{!26, !26, i64 0}
!26 = !{!"_Bool", !7, i64 0}
!27 = !{i8 0, i8 2}
!28 = distinct !{!28, !10, !11}
