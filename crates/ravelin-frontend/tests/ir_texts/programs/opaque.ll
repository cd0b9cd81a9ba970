target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.mpmc_queue_t = type { %struct.cell_t*, i64, i64, i64 }
%struct.cell_t = type { i64, i32 }
%union.pthread_attr_t = type { i64, [48 x i8] }

@__const.main.values = private unnamed_addr constant [2 x i32] [i32 7, i32 9], align 4
@queue = internal global %struct.mpmc_queue_t zeroinitializer, align 8, !dbg !0
@cells = internal global [2 x %struct.cell_t] zeroinitializer, align 16, !dbg !23
@.str = private unnamed_addr constant [5 x i8] c"done\00", align 1
@.str.1 = private unnamed_addr constant [31 x i8] c"examples/c/models/mpmc-queue.c\00", align 1
@__PRETTY_FUNCTION__.producer = private unnamed_addr constant [23 x i8] c"void *producer(void *)\00", align 1
@.str.2 = private unnamed_addr constant [25 x i8] c"value == 7 || value == 9\00", align 1
@__PRETTY_FUNCTION__.consumer = private unnamed_addr constant [23 x i8] c"void *consumer(void *)\00", align 1

; Function Attrs: nounwind uwtable
define dso_local i32 @main() #0 !dbg !53 {
entry:
  %retval = alloca i32, align 4
  %values = alloca [2 x i32], align 4
  %threads = alloca [3 x i64], align 16
  %i = alloca i32, align 4
  %i5 = alloca i32, align 4
  store i32 0, i32* %retval, align 4
  %0 = bitcast [2 x i32]* %values to i8*, !dbg !69
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %0) #7, !dbg !69
  call void @llvm.dbg.declare(metadata [2 x i32]* %values, metadata !57, metadata !DIExpression()), !dbg !70
  %1 = bitcast [2 x i32]* %values to i8*, !dbg !70
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %1, i8* align 4 bitcast ([2 x i32]* @__const.main.values to i8*), i64 8, i1 false), !dbg !70
  %2 = bitcast [3 x i64]* %threads to i8*, !dbg !71
  call void @llvm.lifetime.start.p0i8(i64 24, i8* %2) #7, !dbg !71
  call void @llvm.dbg.declare(metadata [3 x i64]* %threads, metadata !59, metadata !DIExpression()), !dbg !72
  call void @queue_init(%struct.mpmc_queue_t* noundef @queue, %struct.cell_t* noundef getelementptr inbounds ([2 x %struct.cell_t], [2 x %struct.cell_t]* @cells, i64 0, i64 0), i64 noundef 2), !dbg !73
  %3 = bitcast i32* %i to i8*, !dbg !74
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %3) #7, !dbg !74
  call void @llvm.dbg.declare(metadata i32* %i, metadata !65, metadata !DIExpression()), !dbg !75
  store i32 0, i32* %i, align 4, !dbg !75, !tbaa !76
  br label %for.cond, !dbg !74

for.cond:                                         ; preds = %for.inc, %entry
  %4 = load i32, i32* %i, align 4, !dbg !80, !tbaa !76
  %cmp = icmp slt i32 %4, 2, !dbg !82
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !83

for.cond.cleanup:                                 ; preds = %for.cond
  %5 = bitcast i32* %i to i8*, !dbg !84
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %5) #7, !dbg !84
  br label %for.end

for.body:                                         ; preds = %for.cond
  %6 = load i32, i32* %i, align 4, !dbg !85, !tbaa !76
  %idxprom = sext i32 %6 to i64, !dbg !86
  %arrayidx = getelementptr inbounds [3 x i64], [3 x i64]* %threads, i64 0, i64 %idxprom, !dbg !86
  %7 = load i32, i32* %i, align 4, !dbg !87, !tbaa !76
  %idxprom1 = sext i32 %7 to i64, !dbg !88
  %arrayidx2 = getelementptr inbounds [2 x i32], [2 x i32]* %values, i64 0, i64 %idxprom1, !dbg !88
  %8 = bitcast i32* %arrayidx2 to i8*, !dbg !89
  %call = call i32 @pthread_create(i64* noundef %arrayidx, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @producer, i8* noundef %8) #7, !dbg !90
  br label %for.inc, !dbg !90

for.inc:                                          ; preds = %for.body
  %9 = load i32, i32* %i, align 4, !dbg !91, !tbaa !76
  %inc = add nsw i32 %9, 1, !dbg !91
  store i32 %inc, i32* %i, align 4, !dbg !91, !tbaa !76
  br label %for.cond, !dbg !84, !llvm.loop !92

for.end:                                          ; preds = %for.cond.cleanup
  %arrayidx3 = getelementptr inbounds [3 x i64], [3 x i64]* %threads, i64 0, i64 2, !dbg !96
  %call4 = call i32 @pthread_create(i64* noundef %arrayidx3, %union.pthread_attr_t* noundef null, i8* (i8*)* noundef @consumer, i8* noundef null) #7, !dbg !97
  %10 = bitcast i32* %i5 to i8*, !dbg !98
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %10) #7, !dbg !98
  call void @llvm.dbg.declare(metadata i32* %i5, metadata !67, metadata !DIExpression()), !dbg !99
  store i32 0, i32* %i5, align 4, !dbg !99, !tbaa !76
  br label %for.cond6, !dbg !98

for.cond6:                                        ; preds = %for.inc13, %for.end
  %11 = load i32, i32* %i5, align 4, !dbg !100, !tbaa !76
  %cmp7 = icmp slt i32 %11, 3, !dbg !102
  br i1 %cmp7, label %for.body9, label %for.cond.cleanup8, !dbg !103

for.cond.cleanup8:                                ; preds = %for.cond6
  %12 = bitcast i32* %i5 to i8*, !dbg !104
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %12) #7, !dbg !104
  br label %for.end15

for.body9:                                        ; preds = %for.cond6
  %13 = load i32, i32* %i5, align 4, !dbg !105, !tbaa !76
  %idxprom10 = sext i32 %13 to i64, !dbg !106
  %arrayidx11 = getelementptr inbounds [3 x i64], [3 x i64]* %threads, i64 0, i64 %idxprom10, !dbg !106
  %14 = load i64, i64* %arrayidx11, align 8, !dbg !106, !tbaa !107
  %call12 = call i32 @pthread_join(i64 noundef %14, i8** noundef null), !dbg !109
  br label %for.inc13, !dbg !109

for.inc13:                                        ; preds = %for.body9
  %15 = load i32, i32* %i5, align 4, !dbg !110, !tbaa !76
  %inc14 = add nsw i32 %15, 1, !dbg !110
  store i32 %inc14, i32* %i5, align 4, !dbg !110, !tbaa !76
  br label %for.cond6, !dbg !104, !llvm.loop !111

for.end15:                                        ; preds = %for.cond.cleanup8
  %16 = bitcast [3 x i64]* %threads to i8*, !dbg !113
  call void @llvm.lifetime.end.p0i8(i64 24, i8* %16) #7, !dbg !113
  %17 = bitcast [2 x i32]* %values to i8*, !dbg !113
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %17) #7, !dbg !113
  ret i32 0, !dbg !114
}

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: nofree nosync nounwind readnone speculatable willreturn
declare void @llvm.dbg.declare(metadata, metadata, metadata) #2

; Function Attrs: argmemonly nofree nounwind willreturn
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* noalias nocapture writeonly, i8* noalias nocapture readonly, i64, i1 immarg) #3

; Function Attrs: nounwind uwtable
define internal void @queue_init(%struct.mpmc_queue_t* noundef %q, %struct.cell_t* noundef %buffer, i64 noundef %size) #0 !dbg !115 {
entry:
  %q.addr = alloca %struct.mpmc_queue_t*, align 8
  %buffer.addr = alloca %struct.cell_t*, align 8
  %size.addr = alloca i64, align 8
  %i = alloca i64, align 8
  %.atomictmp = alloca i64, align 8
  %.atomictmp2 = alloca i64, align 8
  %.atomictmp3 = alloca i64, align 8
  store %struct.mpmc_queue_t* %q, %struct.mpmc_queue_t** %q.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata %struct.mpmc_queue_t** %q.addr, metadata !120, metadata !DIExpression()), !dbg !127
  store %struct.cell_t* %buffer, %struct.cell_t** %buffer.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata %struct.cell_t** %buffer.addr, metadata !121, metadata !DIExpression()), !dbg !128
  store i64 %size, i64* %size.addr, align 8, !tbaa !107
  call void @llvm.dbg.declare(metadata i64* %size.addr, metadata !122, metadata !DIExpression()), !dbg !129
  %0 = load %struct.cell_t*, %struct.cell_t** %buffer.addr, align 8, !dbg !130, !tbaa !125
  %1 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !131, !tbaa !125
  %buffer1 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %1, i32 0, i32 0, !dbg !132
  store %struct.cell_t* %0, %struct.cell_t** %buffer1, align 8, !dbg !133, !tbaa !134
  %2 = load i64, i64* %size.addr, align 8, !dbg !136, !tbaa !107
  %sub = sub i64 %2, 1, !dbg !137
  %3 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !138, !tbaa !125
  %mask = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %3, i32 0, i32 1, !dbg !139
  store i64 %sub, i64* %mask, align 8, !dbg !140, !tbaa !141
  %4 = bitcast i64* %i to i8*, !dbg !142
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %4) #7, !dbg !142
  call void @llvm.dbg.declare(metadata i64* %i, metadata !123, metadata !DIExpression()), !dbg !143
  store i64 0, i64* %i, align 8, !dbg !143, !tbaa !107
  br label %for.cond, !dbg !142

for.cond:                                         ; preds = %for.inc, %entry
  %5 = load i64, i64* %i, align 8, !dbg !144, !tbaa !107
  %6 = load i64, i64* %size.addr, align 8, !dbg !146, !tbaa !107
  %cmp = icmp ult i64 %5, %6, !dbg !147
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !148

for.cond.cleanup:                                 ; preds = %for.cond
  %7 = bitcast i64* %i to i8*, !dbg !149
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %7) #7, !dbg !149
  br label %for.end

for.body:                                         ; preds = %for.cond
  %8 = load %struct.cell_t*, %struct.cell_t** %buffer.addr, align 8, !dbg !150, !tbaa !125
  %9 = load i64, i64* %i, align 8, !dbg !151, !tbaa !107
  %arrayidx = getelementptr inbounds %struct.cell_t, %struct.cell_t* %8, i64 %9, !dbg !150
  %sequence = getelementptr inbounds %struct.cell_t, %struct.cell_t* %arrayidx, i32 0, i32 0, !dbg !152
  %10 = load i64, i64* %i, align 8, !dbg !153, !tbaa !107
  store i64 %10, i64* %.atomictmp, align 8, !dbg !154, !tbaa !107
  %11 = load i64, i64* %.atomictmp, align 8, !dbg !154
  store atomic i64 %11, i64* %sequence monotonic, align 8, !dbg !154
  br label %for.inc, !dbg !154

for.inc:                                          ; preds = %for.body
  %12 = load i64, i64* %i, align 8, !dbg !155, !tbaa !107
  %inc = add i64 %12, 1, !dbg !155
  store i64 %inc, i64* %i, align 8, !dbg !155, !tbaa !107
  br label %for.cond, !dbg !149, !llvm.loop !156

for.end:                                          ; preds = %for.cond.cleanup
  %13 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !158, !tbaa !125
  %enqueue_pos = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %13, i32 0, i32 2, !dbg !159
  store i64 0, i64* %.atomictmp2, align 8, !dbg !160, !tbaa !107
  %14 = load i64, i64* %.atomictmp2, align 8, !dbg !160
  store atomic i64 %14, i64* %enqueue_pos monotonic, align 8, !dbg !160
  %15 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !161, !tbaa !125
  %dequeue_pos = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %15, i32 0, i32 3, !dbg !162
  store i64 0, i64* %.atomictmp3, align 8, !dbg !163, !tbaa !107
  %16 = load i64, i64* %.atomictmp3, align 8, !dbg !163
  store atomic i64 %16, i64* %dequeue_pos monotonic, align 8, !dbg !163
  ret void, !dbg !164
}

; Function Attrs: nounwind
declare !dbg !165 i32 @pthread_create(i64* noundef, %union.pthread_attr_t* noundef, i8* (i8*)* noundef, i8* noundef) #4

; Function Attrs: nounwind uwtable
define internal i8* @producer(i8* noundef %argument) #0 !dbg !188 {
entry:
  %argument.addr = alloca i8*, align 8
  %done = alloca i8, align 1
  store i8* %argument, i8** %argument.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata i8** %argument.addr, metadata !190, metadata !DIExpression()), !dbg !193
  call void @llvm.lifetime.start.p0i8(i64 1, i8* %done) #7, !dbg !194
  call void @llvm.dbg.declare(metadata i8* %done, metadata !191, metadata !DIExpression()), !dbg !195
  %0 = load i8*, i8** %argument.addr, align 8, !dbg !196, !tbaa !125
  %1 = bitcast i8* %0 to i32*, !dbg !197
  %2 = load i32, i32* %1, align 4, !dbg !198, !tbaa !76
  %call = call zeroext i1 @enqueue(%struct.mpmc_queue_t* noundef @queue, i32 noundef %2), !dbg !199
  %frombool = zext i1 %call to i8, !dbg !195
  store i8 %frombool, i8* %done, align 1, !dbg !195, !tbaa !200
  %3 = load i8, i8* %done, align 1, !dbg !202, !tbaa !200, !range !205
  %tobool = trunc i8 %3 to i1, !dbg !202
  br i1 %tobool, label %if.then, label %if.else, !dbg !206

if.then:                                          ; preds = %entry
  br label %if.end, !dbg !206

if.else:                                          ; preds = %entry
  call void @__assert_fail(i8* noundef getelementptr inbounds ([5 x i8], [5 x i8]* @.str, i64 0, i64 0), i8* noundef getelementptr inbounds ([31 x i8], [31 x i8]* @.str.1, i64 0, i64 0), i32 noundef 84, i8* noundef getelementptr inbounds ([23 x i8], [23 x i8]* @__PRETTY_FUNCTION__.producer, i64 0, i64 0)) #8, !dbg !202
  unreachable, !dbg !202

if.end:                                           ; preds = %if.then
  call void @llvm.lifetime.end.p0i8(i64 1, i8* %done) #7, !dbg !207
  ret i8* null, !dbg !208
}

; Function Attrs: argmemonly nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: nounwind uwtable
define internal i8* @consumer(i8* noundef %unused) #0 !dbg !209 {
entry:
  %unused.addr = alloca i8*, align 8
  %value = alloca i32, align 4
  store i8* %unused, i8** %unused.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata i8** %unused.addr, metadata !211, metadata !DIExpression()), !dbg !213
  %0 = bitcast i32* %value to i8*, !dbg !214
  call void @llvm.lifetime.start.p0i8(i64 4, i8* %0) #7, !dbg !214
  call void @llvm.dbg.declare(metadata i32* %value, metadata !212, metadata !DIExpression()), !dbg !215
  %call = call zeroext i1 @dequeue(%struct.mpmc_queue_t* noundef @queue, i32* noundef %value), !dbg !216
  br i1 %call, label %if.then, label %if.end3, !dbg !218

if.then:                                          ; preds = %entry
  %1 = load i32, i32* %value, align 4, !dbg !219, !tbaa !76
  %cmp = icmp eq i32 %1, 7, !dbg !219
  br i1 %cmp, label %if.then2, label %lor.lhs.false, !dbg !219

lor.lhs.false:                                    ; preds = %if.then
  %2 = load i32, i32* %value, align 4, !dbg !219, !tbaa !76
  %cmp1 = icmp eq i32 %2, 9, !dbg !219
  br i1 %cmp1, label %if.then2, label %if.else, !dbg !222

if.then2:                                         ; preds = %lor.lhs.false, %if.then
  br label %if.end, !dbg !222

if.else:                                          ; preds = %lor.lhs.false
  call void @__assert_fail(i8* noundef getelementptr inbounds ([25 x i8], [25 x i8]* @.str.2, i64 0, i64 0), i8* noundef getelementptr inbounds ([31 x i8], [31 x i8]* @.str.1, i64 0, i64 0), i32 noundef 90, i8* noundef getelementptr inbounds ([23 x i8], [23 x i8]* @__PRETTY_FUNCTION__.consumer, i64 0, i64 0)) #8, !dbg !219
  unreachable, !dbg !219

if.end:                                           ; preds = %if.then2
  br label %if.end3, !dbg !223

if.end3:                                          ; preds = %if.end, %entry
  %3 = load i8*, i8** %unused.addr, align 8, !dbg !224, !tbaa !125
  %4 = bitcast i32* %value to i8*, !dbg !225
  call void @llvm.lifetime.end.p0i8(i64 4, i8* %4) #7, !dbg !225
  ret i8* %3, !dbg !226
}

declare !dbg !227 i32 @pthread_join(i64 noundef, i8** noundef) #5

; Function Attrs: nounwind uwtable
define internal zeroext i1 @enqueue(%struct.mpmc_queue_t* noundef %q, i32 noundef %data) #0 !dbg !231 {
entry:
  %retval = alloca i1, align 1
  %q.addr = alloca %struct.mpmc_queue_t*, align 8
  %data.addr = alloca i32, align 4
  %cell = alloca %struct.cell_t*, align 8
  %pos = alloca i64, align 8
  %atomic-temp = alloca i64, align 8
  %seq = alloca i64, align 8
  %atomic-temp1 = alloca i64, align 8
  %dif = alloca i64, align 8
  %.atomictmp = alloca i64, align 8
  %cmpxchg.bool = alloca i8, align 1
  %cleanup.dest.slot = alloca i32, align 4
  %atomic-temp8 = alloca i64, align 8
  %.atomictmp14 = alloca i64, align 8
  store %struct.mpmc_queue_t* %q, %struct.mpmc_queue_t** %q.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata %struct.mpmc_queue_t** %q.addr, metadata !235, metadata !DIExpression()), !dbg !244
  store i32 %data, i32* %data.addr, align 4, !tbaa !76
  call void @llvm.dbg.declare(metadata i32* %data.addr, metadata !236, metadata !DIExpression()), !dbg !245
  %0 = bitcast %struct.cell_t** %cell to i8*, !dbg !246
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %0) #7, !dbg !246
  call void @llvm.dbg.declare(metadata %struct.cell_t** %cell, metadata !237, metadata !DIExpression()), !dbg !247
  %1 = bitcast i64* %pos to i8*, !dbg !248
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %1) #7, !dbg !248
  call void @llvm.dbg.declare(metadata i64* %pos, metadata !238, metadata !DIExpression()), !dbg !249
  %2 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !250, !tbaa !125
  %enqueue_pos = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %2, i32 0, i32 2, !dbg !251
  %3 = load atomic i64, i64* %enqueue_pos monotonic, align 8, !dbg !252
  store i64 %3, i64* %atomic-temp, align 8, !dbg !252
  %4 = load i64, i64* %atomic-temp, align 8, !dbg !252, !tbaa !107
  store i64 %4, i64* %pos, align 8, !dbg !249, !tbaa !107
  br label %for.cond, !dbg !253

for.cond:                                         ; preds = %cleanup.cont, %entry
  %5 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !254, !tbaa !125
  %buffer = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %5, i32 0, i32 0, !dbg !255
  %6 = load %struct.cell_t*, %struct.cell_t** %buffer, align 8, !dbg !255, !tbaa !134
  %7 = load i64, i64* %pos, align 8, !dbg !256, !tbaa !107
  %8 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !257, !tbaa !125
  %mask = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %8, i32 0, i32 1, !dbg !258
  %9 = load i64, i64* %mask, align 8, !dbg !258, !tbaa !141
  %and = and i64 %7, %9, !dbg !259
  %arrayidx = getelementptr inbounds %struct.cell_t, %struct.cell_t* %6, i64 %and, !dbg !254
  store %struct.cell_t* %arrayidx, %struct.cell_t** %cell, align 8, !dbg !260, !tbaa !125
  %10 = bitcast i64* %seq to i8*, !dbg !261
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %10) #7, !dbg !261
  call void @llvm.dbg.declare(metadata i64* %seq, metadata !239, metadata !DIExpression()), !dbg !262
  %11 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !263, !tbaa !125
  %sequence = getelementptr inbounds %struct.cell_t, %struct.cell_t* %11, i32 0, i32 0, !dbg !264
  %12 = load atomic i64, i64* %sequence acquire, align 8, !dbg !265
  store i64 %12, i64* %atomic-temp1, align 8, !dbg !265
  %13 = load i64, i64* %atomic-temp1, align 8, !dbg !265, !tbaa !107
  store i64 %13, i64* %seq, align 8, !dbg !262, !tbaa !107
  %14 = bitcast i64* %dif to i8*, !dbg !266
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %14) #7, !dbg !266
  call void @llvm.dbg.declare(metadata i64* %dif, metadata !243, metadata !DIExpression()), !dbg !267
  %15 = load i64, i64* %seq, align 8, !dbg !268, !tbaa !107
  %16 = load i64, i64* %pos, align 8, !dbg !269, !tbaa !107
  %sub = sub nsw i64 %15, %16, !dbg !270
  store i64 %sub, i64* %dif, align 8, !dbg !267, !tbaa !107
  %17 = load i64, i64* %dif, align 8, !dbg !271, !tbaa !107
  %cmp = icmp eq i64 %17, 0, !dbg !273
  br i1 %cmp, label %if.then, label %if.else, !dbg !274

if.then:                                          ; preds = %for.cond
  %18 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !275, !tbaa !125
  %enqueue_pos2 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %18, i32 0, i32 2, !dbg !278
  %19 = load i64, i64* %pos, align 8, !dbg !279, !tbaa !107
  %add = add i64 %19, 1, !dbg !280
  store i64 %add, i64* %.atomictmp, align 8, !dbg !281, !tbaa !107
  %20 = load i64, i64* %pos, align 8, !dbg !281
  %21 = load i64, i64* %.atomictmp, align 8, !dbg !281
  %22 = cmpxchg weak i64* %enqueue_pos2, i64 %20, i64 %21 monotonic monotonic, align 8, !dbg !281
  %23 = extractvalue { i64, i1 } %22, 0, !dbg !281
  %24 = extractvalue { i64, i1 } %22, 1, !dbg !281
  br i1 %24, label %cmpxchg.continue, label %cmpxchg.store_expected, !dbg !281

cmpxchg.store_expected:                           ; preds = %if.then
  store i64 %23, i64* %pos, align 8, !dbg !281
  br label %cmpxchg.continue, !dbg !281

cmpxchg.continue:                                 ; preds = %cmpxchg.store_expected, %if.then
  %frombool = zext i1 %24 to i8, !dbg !281
  store i8 %frombool, i8* %cmpxchg.bool, align 1, !dbg !281, !tbaa !200
  %25 = load i8, i8* %cmpxchg.bool, align 1, !dbg !281, !tbaa !200, !range !205
  %tobool = trunc i8 %25 to i1, !dbg !281
  br i1 %tobool, label %if.then3, label %if.end, !dbg !282

if.then3:                                         ; preds = %cmpxchg.continue
  store i32 2, i32* %cleanup.dest.slot, align 4
  br label %cleanup, !dbg !283

if.end:                                           ; preds = %cmpxchg.continue
  br label %if.end10, !dbg !284

if.else:                                          ; preds = %for.cond
  %26 = load i64, i64* %dif, align 8, !dbg !285, !tbaa !107
  %cmp4 = icmp slt i64 %26, 0, !dbg !287
  br i1 %cmp4, label %if.then5, label %if.else6, !dbg !288

if.then5:                                         ; preds = %if.else
  store i1 false, i1* %retval, align 1, !dbg !289
  store i32 1, i32* %cleanup.dest.slot, align 4
  br label %cleanup, !dbg !289

if.else6:                                         ; preds = %if.else
  %27 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !291, !tbaa !125
  %enqueue_pos7 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %27, i32 0, i32 2, !dbg !293
  %28 = load atomic i64, i64* %enqueue_pos7 monotonic, align 8, !dbg !294
  store i64 %28, i64* %atomic-temp8, align 8, !dbg !294
  %29 = load i64, i64* %atomic-temp8, align 8, !dbg !294, !tbaa !107
  store i64 %29, i64* %pos, align 8, !dbg !295, !tbaa !107
  br label %if.end9

if.end9:                                          ; preds = %if.else6
  br label %if.end10

if.end10:                                         ; preds = %if.end9, %if.end
  store i32 0, i32* %cleanup.dest.slot, align 4, !dbg !296
  br label %cleanup, !dbg !296

cleanup:                                          ; preds = %if.end10, %if.then5, %if.then3
  %30 = bitcast i64* %dif to i8*, !dbg !296
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %30) #7, !dbg !296
  %31 = bitcast i64* %seq to i8*, !dbg !296
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %31) #7, !dbg !296
  %cleanup.dest = load i32, i32* %cleanup.dest.slot, align 4
  switch i32 %cleanup.dest, label %cleanup16 [
    i32 0, label %cleanup.cont
    i32 2, label %for.end
  ]

cleanup.cont:                                     ; preds = %cleanup
  br label %for.cond, !dbg !297, !llvm.loop !298

for.end:                                          ; preds = %cleanup
  %32 = load i32, i32* %data.addr, align 4, !dbg !301, !tbaa !76
  %33 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !302, !tbaa !125
  %data12 = getelementptr inbounds %struct.cell_t, %struct.cell_t* %33, i32 0, i32 1, !dbg !303
  store i32 %32, i32* %data12, align 8, !dbg !304, !tbaa !305
  %34 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !307, !tbaa !125
  %sequence13 = getelementptr inbounds %struct.cell_t, %struct.cell_t* %34, i32 0, i32 0, !dbg !308
  %35 = load i64, i64* %pos, align 8, !dbg !309, !tbaa !107
  %add15 = add i64 %35, 1, !dbg !310
  store i64 %add15, i64* %.atomictmp14, align 8, !dbg !311, !tbaa !107
  %36 = load i64, i64* %.atomictmp14, align 8, !dbg !311
  store atomic i64 %36, i64* %sequence13 release, align 8, !dbg !311
  store i1 true, i1* %retval, align 1, !dbg !312
  store i32 1, i32* %cleanup.dest.slot, align 4
  br label %cleanup16, !dbg !312

cleanup16:                                        ; preds = %for.end, %cleanup
  %37 = bitcast i64* %pos to i8*, !dbg !313
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %37) #7, !dbg !313
  %38 = bitcast %struct.cell_t** %cell to i8*, !dbg !313
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %38) #7, !dbg !313
  %39 = load i1, i1* %retval, align 1, !dbg !313
  ret i1 %39, !dbg !313
}

; Function Attrs: noreturn nounwind
declare void @__assert_fail(i8* noundef, i8* noundef, i32 noundef, i8* noundef) #6

; Function Attrs: nounwind uwtable
define internal zeroext i1 @dequeue(%struct.mpmc_queue_t* noundef %q, i32* noundef %data) #0 !dbg !314 {
entry:
  %retval = alloca i1, align 1
  %q.addr = alloca %struct.mpmc_queue_t*, align 8
  %data.addr = alloca i32*, align 8
  %cell = alloca %struct.cell_t*, align 8
  %pos = alloca i64, align 8
  %atomic-temp = alloca i64, align 8
  %seq = alloca i64, align 8
  %atomic-temp1 = alloca i64, align 8
  %dif = alloca i64, align 8
  %.atomictmp = alloca i64, align 8
  %cmpxchg.bool = alloca i8, align 1
  %cleanup.dest.slot = alloca i32, align 4
  %atomic-temp9 = alloca i64, align 8
  %.atomictmp15 = alloca i64, align 8
  store %struct.mpmc_queue_t* %q, %struct.mpmc_queue_t** %q.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata %struct.mpmc_queue_t** %q.addr, metadata !318, metadata !DIExpression()), !dbg !327
  store i32* %data, i32** %data.addr, align 8, !tbaa !125
  call void @llvm.dbg.declare(metadata i32** %data.addr, metadata !319, metadata !DIExpression()), !dbg !328
  %0 = bitcast %struct.cell_t** %cell to i8*, !dbg !329
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %0) #7, !dbg !329
  call void @llvm.dbg.declare(metadata %struct.cell_t** %cell, metadata !320, metadata !DIExpression()), !dbg !330
  %1 = bitcast i64* %pos to i8*, !dbg !331
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %1) #7, !dbg !331
  call void @llvm.dbg.declare(metadata i64* %pos, metadata !321, metadata !DIExpression()), !dbg !332
  %2 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !333, !tbaa !125
  %dequeue_pos = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %2, i32 0, i32 3, !dbg !334
  %3 = load atomic i64, i64* %dequeue_pos monotonic, align 8, !dbg !335
  store i64 %3, i64* %atomic-temp, align 8, !dbg !335
  %4 = load i64, i64* %atomic-temp, align 8, !dbg !335, !tbaa !107
  store i64 %4, i64* %pos, align 8, !dbg !332, !tbaa !107
  br label %for.cond, !dbg !336

for.cond:                                         ; preds = %cleanup.cont, %entry
  %5 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !337, !tbaa !125
  %buffer = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %5, i32 0, i32 0, !dbg !338
  %6 = load %struct.cell_t*, %struct.cell_t** %buffer, align 8, !dbg !338, !tbaa !134
  %7 = load i64, i64* %pos, align 8, !dbg !339, !tbaa !107
  %8 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !340, !tbaa !125
  %mask = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %8, i32 0, i32 1, !dbg !341
  %9 = load i64, i64* %mask, align 8, !dbg !341, !tbaa !141
  %and = and i64 %7, %9, !dbg !342
  %arrayidx = getelementptr inbounds %struct.cell_t, %struct.cell_t* %6, i64 %and, !dbg !337
  store %struct.cell_t* %arrayidx, %struct.cell_t** %cell, align 8, !dbg !343, !tbaa !125
  %10 = bitcast i64* %seq to i8*, !dbg !344
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %10) #7, !dbg !344
  call void @llvm.dbg.declare(metadata i64* %seq, metadata !322, metadata !DIExpression()), !dbg !345
  %11 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !346, !tbaa !125
  %sequence = getelementptr inbounds %struct.cell_t, %struct.cell_t* %11, i32 0, i32 0, !dbg !347
  %12 = load atomic i64, i64* %sequence acquire, align 8, !dbg !348
  store i64 %12, i64* %atomic-temp1, align 8, !dbg !348
  %13 = load i64, i64* %atomic-temp1, align 8, !dbg !348, !tbaa !107
  store i64 %13, i64* %seq, align 8, !dbg !345, !tbaa !107
  %14 = bitcast i64* %dif to i8*, !dbg !349
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %14) #7, !dbg !349
  call void @llvm.dbg.declare(metadata i64* %dif, metadata !326, metadata !DIExpression()), !dbg !350
  %15 = load i64, i64* %seq, align 8, !dbg !351, !tbaa !107
  %16 = load i64, i64* %pos, align 8, !dbg !352, !tbaa !107
  %add = add i64 %16, 1, !dbg !353
  %sub = sub nsw i64 %15, %add, !dbg !354
  store i64 %sub, i64* %dif, align 8, !dbg !350, !tbaa !107
  %17 = load i64, i64* %dif, align 8, !dbg !355, !tbaa !107
  %cmp = icmp eq i64 %17, 0, !dbg !357
  br i1 %cmp, label %if.then, label %if.else, !dbg !358

if.then:                                          ; preds = %for.cond
  %18 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !359, !tbaa !125
  %dequeue_pos2 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %18, i32 0, i32 3, !dbg !362
  %19 = load i64, i64* %pos, align 8, !dbg !363, !tbaa !107
  %add3 = add i64 %19, 1, !dbg !364
  store i64 %add3, i64* %.atomictmp, align 8, !dbg !365, !tbaa !107
  %20 = load i64, i64* %pos, align 8, !dbg !365
  %21 = load i64, i64* %.atomictmp, align 8, !dbg !365
  %22 = cmpxchg weak i64* %dequeue_pos2, i64 %20, i64 %21 monotonic monotonic, align 8, !dbg !365
  %23 = extractvalue { i64, i1 } %22, 0, !dbg !365
  %24 = extractvalue { i64, i1 } %22, 1, !dbg !365
  br i1 %24, label %cmpxchg.continue, label %cmpxchg.store_expected, !dbg !365

cmpxchg.store_expected:                           ; preds = %if.then
  store i64 %23, i64* %pos, align 8, !dbg !365
  br label %cmpxchg.continue, !dbg !365

cmpxchg.continue:                                 ; preds = %cmpxchg.store_expected, %if.then
  %frombool = zext i1 %24 to i8, !dbg !365
  store i8 %frombool, i8* %cmpxchg.bool, align 1, !dbg !365, !tbaa !200
  %25 = load i8, i8* %cmpxchg.bool, align 1, !dbg !365, !tbaa !200, !range !205
  %tobool = trunc i8 %25 to i1, !dbg !365
  br i1 %tobool, label %if.then4, label %if.end, !dbg !366

if.then4:                                         ; preds = %cmpxchg.continue
  store i32 2, i32* %cleanup.dest.slot, align 4
  br label %cleanup, !dbg !367

if.end:                                           ; preds = %cmpxchg.continue
  br label %if.end11, !dbg !368

if.else:                                          ; preds = %for.cond
  %26 = load i64, i64* %dif, align 8, !dbg !369, !tbaa !107
  %cmp5 = icmp slt i64 %26, 0, !dbg !371
  br i1 %cmp5, label %if.then6, label %if.else7, !dbg !372

if.then6:                                         ; preds = %if.else
  store i1 false, i1* %retval, align 1, !dbg !373
  store i32 1, i32* %cleanup.dest.slot, align 4
  br label %cleanup, !dbg !373

if.else7:                                         ; preds = %if.else
  %27 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !375, !tbaa !125
  %dequeue_pos8 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %27, i32 0, i32 3, !dbg !377
  %28 = load atomic i64, i64* %dequeue_pos8 monotonic, align 8, !dbg !378
  store i64 %28, i64* %atomic-temp9, align 8, !dbg !378
  %29 = load i64, i64* %atomic-temp9, align 8, !dbg !378, !tbaa !107
  store i64 %29, i64* %pos, align 8, !dbg !379, !tbaa !107
  br label %if.end10

if.end10:                                         ; preds = %if.else7
  br label %if.end11

if.end11:                                         ; preds = %if.end10, %if.end
  store i32 0, i32* %cleanup.dest.slot, align 4, !dbg !380
  br label %cleanup, !dbg !380

cleanup:                                          ; preds = %if.end11, %if.then6, %if.then4
  %30 = bitcast i64* %dif to i8*, !dbg !380
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %30) #7, !dbg !380
  %31 = bitcast i64* %seq to i8*, !dbg !380
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %31) #7, !dbg !380
  %cleanup.dest = load i32, i32* %cleanup.dest.slot, align 4
  switch i32 %cleanup.dest, label %cleanup19 [
    i32 0, label %cleanup.cont
    i32 2, label %for.end
  ]

cleanup.cont:                                     ; preds = %cleanup
  br label %for.cond, !dbg !381, !llvm.loop !382

for.end:                                          ; preds = %cleanup
  %32 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !385, !tbaa !125
  %data13 = getelementptr inbounds %struct.cell_t, %struct.cell_t* %32, i32 0, i32 1, !dbg !386
  %33 = load i32, i32* %data13, align 8, !dbg !386, !tbaa !305
  %34 = load i32*, i32** %data.addr, align 8, !dbg !387, !tbaa !125
  store i32 %33, i32* %34, align 4, !dbg !388, !tbaa !76
  %35 = load %struct.cell_t*, %struct.cell_t** %cell, align 8, !dbg !389, !tbaa !125
  %sequence14 = getelementptr inbounds %struct.cell_t, %struct.cell_t* %35, i32 0, i32 0, !dbg !390
  %36 = load i64, i64* %pos, align 8, !dbg !391, !tbaa !107
  %37 = load %struct.mpmc_queue_t*, %struct.mpmc_queue_t** %q.addr, align 8, !dbg !392, !tbaa !125
  %mask16 = getelementptr inbounds %struct.mpmc_queue_t, %struct.mpmc_queue_t* %37, i32 0, i32 1, !dbg !393
  %38 = load i64, i64* %mask16, align 8, !dbg !393, !tbaa !141
  %add17 = add i64 %36, %38, !dbg !394
  %add18 = add i64 %add17, 1, !dbg !395
  store i64 %add18, i64* %.atomictmp15, align 8, !dbg !396, !tbaa !107
  %39 = load i64, i64* %.atomictmp15, align 8, !dbg !396
  store atomic i64 %39, i64* %sequence14 release, align 8, !dbg !396
  store i1 true, i1* %retval, align 1, !dbg !397
  store i32 1, i32* %cleanup.dest.slot, align 4
  br label %cleanup19, !dbg !397

cleanup19:                                        ; preds = %for.end, %cleanup
  %40 = bitcast i64* %pos to i8*, !dbg !398
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %40) #7, !dbg !398
  %41 = bitcast %struct.cell_t** %cell to i8*, !dbg !398
  call void @llvm.lifetime.end.p0i8(i64 8, i8* %41) #7, !dbg !398
  %42 = load i1, i1* %retval, align 1, !dbg !398
  ret i1 %42, !dbg !398
}

attributes #0 = { nounwind uwtable "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { argmemonly nofree nosync nounwind willreturn }
attributes #2 = { nofree nosync nounwind readnone speculatable willreturn }
attributes #3 = { argmemonly nofree nounwind willreturn }
attributes #4 = { nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #5 = { "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { noreturn nounwind "frame-pointer"="none" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { nounwind }
attributes #8 = { noreturn nounwind }

!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!46, !47, !48, !49, !50, !51}
!llvm.ident = !{!52}

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "queue", scope: !2, file: !3, line: 28, type: !38, isLocal: true, isDefinition: true)
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, producer: "Debian clang version 14.0.6", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, enums: !4, retainedTypes: !15, globals: !22, splitDebugInlining: false, nameTableKind: None)
!3 = !DIFile(filename: "examples/c/models/mpmc-queue.c", directory: "/project", checksumkind: CSK_MD5, checksum: "0489c4e1a4711f6eff387227874b8ab2")
!4 = !{!5}
!5 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "memory_order", file: !6, line: 56, baseType: !7, size: 32, elements: !8)
!6 = !DIFile(filename: "/usr/lib/llvm-14/lib/clang/14.0.6/include/stdatomic.h", directory: "", checksumkind: CSK_MD5, checksum: "de5d66a1ef2f5448cc1919ff39db92bc")
!7 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!8 = !{!9, !10, !11, !12, !13, !14}
!9 = !DIEnumerator(name: "memory_order_relaxed", value: 0)
!10 = !DIEnumerator(name: "memory_order_consume", value: 1)
!11 = !DIEnumerator(name: "memory_order_acquire", value: 2)
!12 = !DIEnumerator(name: "memory_order_release", value: 3)
!13 = !DIEnumerator(name: "memory_order_acq_rel", value: 4)
!14 = !DIEnumerator(name: "memory_order_seq_cst", value: 5)
!15 = !{!16, !17, !19}
!16 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)
!17 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !18, size: 64)
!18 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!19 = !DIDerivedType(tag: DW_TAG_typedef, name: "intptr_t", file: !20, line: 87, baseType: !21)
!20 = !DIFile(filename: "/usr/include/stdint.h", directory: "", checksumkind: CSK_MD5, checksum: "a48e64edacc5b19f56c99745232c963c")
!21 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!22 = !{!23, !0}
!23 = !DIGlobalVariableExpression(var: !24, expr: !DIExpression())
!24 = distinct !DIGlobalVariable(name: "cells", scope: !2, file: !3, line: 27, type: !25, isLocal: true, isDefinition: true)
!25 = !DICompositeType(tag: DW_TAG_array_type, baseType: !26, size: 256, elements: !36)
!26 = !DIDerivedType(tag: DW_TAG_typedef, name: "cell_t", file: !3, line: 18, baseType: !27)
!27 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !3, line: 15, size: 128, elements: !28)
!28 = !{!29, !35}
!29 = !DIDerivedType(tag: DW_TAG_member, name: "sequence", scope: !27, file: !3, line: 16, baseType: !30, size: 64)
!30 = !DIDerivedType(tag: DW_TAG_typedef, name: "atomic_size_t", file: !6, line: 119, baseType: !31)
!31 = !DIDerivedType(tag: DW_TAG_atomic_type, baseType: !32)
!32 = !DIDerivedType(tag: DW_TAG_typedef, name: "size_t", file: !33, line: 46, baseType: !34)
!33 = !DIFile(filename: "/usr/lib/llvm-14/lib/clang/14.0.6/include/stddef.h", directory: "", checksumkind: CSK_MD5, checksum: "2499dd2361b915724b073282bea3a7bc")
!34 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!35 = !DIDerivedType(tag: DW_TAG_member, name: "data", scope: !27, file: !3, line: 17, baseType: !18, size: 32, offset: 64)
!36 = !{!37}
!37 = !DISubrange(count: 2)
!38 = !DIDerivedType(tag: DW_TAG_typedef, name: "mpmc_queue_t", file: !3, line: 25, baseType: !39)
!39 = distinct !DICompositeType(tag: DW_TAG_structure_type, file: !3, line: 20, size: 256, elements: !40)
!40 = !{!41, !43, !44, !45}
!41 = !DIDerivedType(tag: DW_TAG_member, name: "buffer", scope: !39, file: !3, line: 21, baseType: !42, size: 64)
!42 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !26, size: 64)
!43 = !DIDerivedType(tag: DW_TAG_member, name: "mask", scope: !39, file: !3, line: 22, baseType: !32, size: 64, offset: 64)
!44 = !DIDerivedType(tag: DW_TAG_member, name: "enqueue_pos", scope: !39, file: !3, line: 23, baseType: !30, size: 64, offset: 128)
!45 = !DIDerivedType(tag: DW_TAG_member, name: "dequeue_pos", scope: !39, file: !3, line: 24, baseType: !30, size: 64, offset: 192)
!46 = !{i32 7, !"Dwarf Version", i32 5}
!47 = !{i32 2, !"Debug Info Version", i32 3}
!48 = !{i32 1, !"wchar_size", i32 4}
!49 = !{i32 7, !"PIC Level", i32 2}
!50 = !{i32 7, !"PIE Level", i32 2}
!51 = !{i32 7, !"uwtable", i32 1}
!52 = !{!"Debian clang version 14.0.6"}
!53 = distinct !DISubprogram(name: "main", scope: !3, file: !3, line: 94, type: !54, scopeLine: 94, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !56)
!54 = !DISubroutineType(types: !55)
!55 = !{!18}
!56 = !{!57, !59, !65, !67}
!57 = !DILocalVariable(name: "values", scope: !53, file: !3, line: 95, type: !58)
!58 = !DICompositeType(tag: DW_TAG_array_type, baseType: !18, size: 64, elements: !36)
!59 = !DILocalVariable(name: "threads", scope: !53, file: !3, line: 96, type: !60)
!60 = !DICompositeType(tag: DW_TAG_array_type, baseType: !61, size: 192, elements: !63)
!61 = !DIDerivedType(tag: DW_TAG_typedef, name: "pthread_t", file: !62, line: 27, baseType: !34)
!62 = !DIFile(filename: "/usr/include/x86_64-linux-gnu/bits/pthreadtypes.h", directory: "", checksumkind: CSK_MD5, checksum: "735e3bf264ff9d8f5d95898b1692fbdb")
!63 = !{!64}
!64 = !DISubrange(count: 3)
!65 = !DILocalVariable(name: "i", scope: !66, file: !3, line: 98, type: !18)
!66 = distinct !DILexicalBlock(scope: !53, file: !3, line: 98, column: 3)
!67 = !DILocalVariable(name: "i", scope: !68, file: !3, line: 100, type: !18)
!68 = distinct !DILexicalBlock(scope: !53, file: !3, line: 100, column: 3)
!69 = !DILocation(line: 95, column: 3, scope: !53)
!70 = !DILocation(line: 95, column: 7, scope: !53)
!71 = !DILocation(line: 96, column: 3, scope: !53)
!72 = !DILocation(line: 96, column: 13, scope: !53)
!73 = !DILocation(line: 97, column: 3, scope: !53)
!74 = !DILocation(line: 98, column: 8, scope: !66)
!75 = !DILocation(line: 98, column: 12, scope: !66)
!76 = !{!77, !77, i64 0}
!77 = !{!"int", !78, i64 0}
!78 = !{!"omnipotent char", !79, i64 0}
!79 = !{!"Simple C/C++ TBAA"}
!80 = !DILocation(line: 98, column: 19, scope: !81)
!81 = distinct !DILexicalBlock(scope: !66, file: !3, line: 98, column: 3)
!82 = !DILocation(line: 98, column: 21, scope: !81)
!83 = !DILocation(line: 98, column: 3, scope: !66)
!84 = !DILocation(line: 98, column: 3, scope: !81)
!85 = !DILocation(line: 98, column: 55, scope: !81)
!86 = !DILocation(line: 98, column: 47, scope: !81)
!87 = !DILocation(line: 98, column: 83, scope: !81)
!88 = !DILocation(line: 98, column: 76, scope: !81)
!89 = !DILocation(line: 98, column: 75, scope: !81)
!90 = !DILocation(line: 98, column: 31, scope: !81)
!91 = !DILocation(line: 98, column: 27, scope: !81)
!92 = distinct !{!92, !83, !93, !94, !95}
!93 = !DILocation(line: 98, column: 85, scope: !66)
!94 = !{!"llvm.loop.mustprogress"}
!95 = !{!"llvm.loop.unroll.disable"}
!96 = !DILocation(line: 99, column: 19, scope: !53)
!97 = !DILocation(line: 99, column: 3, scope: !53)
!98 = !DILocation(line: 100, column: 8, scope: !68)
!99 = !DILocation(line: 100, column: 12, scope: !68)
!100 = !DILocation(line: 100, column: 19, scope: !101)
!101 = distinct !DILexicalBlock(scope: !68, file: !3, line: 100, column: 3)
!102 = !DILocation(line: 100, column: 21, scope: !101)
!103 = !DILocation(line: 100, column: 3, scope: !68)
!104 = !DILocation(line: 100, column: 3, scope: !101)
!105 = !DILocation(line: 100, column: 52, scope: !101)
!106 = !DILocation(line: 100, column: 44, scope: !101)
!107 = !{!108, !108, i64 0}
!108 = !{!"long", !78, i64 0}
!109 = !DILocation(line: 100, column: 31, scope: !101)
!110 = !DILocation(line: 100, column: 27, scope: !101)
!111 = distinct !{!111, !103, !112, !94, !95}
!112 = !DILocation(line: 100, column: 60, scope: !68)
!113 = !DILocation(line: 102, column: 1, scope: !53)
!114 = !DILocation(line: 101, column: 3, scope: !53)
!115 = distinct !DISubprogram(name: "queue_init", scope: !3, file: !3, line: 30, type: !116, scopeLine: 30, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !119)
!116 = !DISubroutineType(types: !117)
!117 = !{null, !118, !42, !32}
!118 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !38, size: 64)
!119 = !{!120, !121, !122, !123}
!120 = !DILocalVariable(name: "q", arg: 1, scope: !115, file: !3, line: 30, type: !118)
!121 = !DILocalVariable(name: "buffer", arg: 2, scope: !115, file: !3, line: 30, type: !42)
!122 = !DILocalVariable(name: "size", arg: 3, scope: !115, file: !3, line: 30, type: !32)
!123 = !DILocalVariable(name: "i", scope: !124, file: !3, line: 33, type: !32)
!124 = distinct !DILexicalBlock(scope: !115, file: !3, line: 33, column: 3)
!125 = !{!126, !126, i64 0}
!126 = !{!"any pointer", !78, i64 0}
!127 = !DILocation(line: 30, column: 38, scope: !115)
!128 = !DILocation(line: 30, column: 49, scope: !115)
!129 = !DILocation(line: 30, column: 64, scope: !115)
!130 = !DILocation(line: 31, column: 15, scope: !115)
!131 = !DILocation(line: 31, column: 3, scope: !115)
!132 = !DILocation(line: 31, column: 6, scope: !115)
!133 = !DILocation(line: 31, column: 13, scope: !115)
!134 = !{!135, !126, i64 0}
!135 = !{!"", !126, i64 0, !108, i64 8, !78, i64 16, !78, i64 24}
!136 = !DILocation(line: 32, column: 13, scope: !115)
!137 = !DILocation(line: 32, column: 18, scope: !115)
!138 = !DILocation(line: 32, column: 3, scope: !115)
!139 = !DILocation(line: 32, column: 6, scope: !115)
!140 = !DILocation(line: 32, column: 11, scope: !115)
!141 = !{!135, !108, i64 8}
!142 = !DILocation(line: 33, column: 8, scope: !124)
!143 = !DILocation(line: 33, column: 15, scope: !124)
!144 = !DILocation(line: 33, column: 22, scope: !145)
!145 = distinct !DILexicalBlock(scope: !124, file: !3, line: 33, column: 3)
!146 = !DILocation(line: 33, column: 26, scope: !145)
!147 = !DILocation(line: 33, column: 24, scope: !145)
!148 = !DILocation(line: 33, column: 3, scope: !124)
!149 = !DILocation(line: 33, column: 3, scope: !145)
!150 = !DILocation(line: 33, column: 60, scope: !145)
!151 = !DILocation(line: 33, column: 67, scope: !145)
!152 = !DILocation(line: 33, column: 70, scope: !145)
!153 = !DILocation(line: 33, column: 80, scope: !145)
!154 = !DILocation(line: 33, column: 37, scope: !145)
!155 = !DILocation(line: 33, column: 33, scope: !145)
!156 = distinct !{!156, !148, !157, !94, !95}
!157 = !DILocation(line: 33, column: 103, scope: !124)
!158 = !DILocation(line: 34, column: 26, scope: !115)
!159 = !DILocation(line: 34, column: 29, scope: !115)
!160 = !DILocation(line: 34, column: 3, scope: !115)
!161 = !DILocation(line: 35, column: 26, scope: !115)
!162 = !DILocation(line: 35, column: 29, scope: !115)
!163 = !DILocation(line: 35, column: 3, scope: !115)
!164 = !DILocation(line: 36, column: 1, scope: !115)
!165 = !DISubprogram(name: "pthread_create", scope: !166, file: !166, line: 202, type: !167, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !187)
!166 = !DIFile(filename: "/usr/include/pthread.h", directory: "", checksumkind: CSK_MD5, checksum: "5205981c6f80cc3dc1e81231df63d8ef")
!167 = !DISubroutineType(types: !168)
!168 = !{!18, !169, !171, !183, !186}
!169 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !170)
!170 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !61, size: 64)
!171 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !172)
!172 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !173, size: 64)
!173 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !174)
!174 = !DIDerivedType(tag: DW_TAG_typedef, name: "pthread_attr_t", file: !62, line: 62, baseType: !175)
!175 = distinct !DICompositeType(tag: DW_TAG_union_type, name: "pthread_attr_t", file: !62, line: 56, size: 448, elements: !176)
!176 = !{!177, !182}
!177 = !DIDerivedType(tag: DW_TAG_member, name: "__size", scope: !175, file: !62, line: 58, baseType: !178, size: 448)
!178 = !DICompositeType(tag: DW_TAG_array_type, baseType: !179, size: 448, elements: !180)
!179 = !DIBasicType(name: "char", size: 8, encoding: DW_ATE_signed_char)
!180 = !{!181}
!181 = !DISubrange(count: 56)
!182 = !DIDerivedType(tag: DW_TAG_member, name: "__align", scope: !175, file: !62, line: 59, baseType: !21, size: 64)
!183 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !184, size: 64)
!184 = !DISubroutineType(types: !185)
!185 = !{!16, !16}
!186 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !16)
!187 = !{}
!188 = distinct !DISubprogram(name: "producer", scope: !3, file: !3, line: 82, type: !184, scopeLine: 82, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !189)
!189 = !{!190, !191}
!190 = !DILocalVariable(name: "argument", arg: 1, scope: !188, file: !3, line: 82, type: !16)
!191 = !DILocalVariable(name: "done", scope: !188, file: !3, line: 83, type: !192)
!192 = !DIBasicType(name: "_Bool", size: 8, encoding: DW_ATE_boolean)
!193 = !DILocation(line: 82, column: 29, scope: !188)
!194 = !DILocation(line: 83, column: 3, scope: !188)
!195 = !DILocation(line: 83, column: 8, scope: !188)
!196 = !DILocation(line: 83, column: 39, scope: !188)
!197 = !DILocation(line: 83, column: 32, scope: !188)
!198 = !DILocation(line: 83, column: 31, scope: !188)
!199 = !DILocation(line: 83, column: 15, scope: !188)
!200 = !{!201, !201, i64 0}
!201 = !{!"_Bool", !78, i64 0}
!202 = !DILocation(line: 84, column: 3, scope: !203)
!203 = distinct !DILexicalBlock(scope: !204, file: !3, line: 84, column: 3)
!204 = distinct !DILexicalBlock(scope: !188, file: !3, line: 84, column: 3)
!205 = !{i8 0, i8 2}
!206 = !DILocation(line: 84, column: 3, scope: !204)
!207 = !DILocation(line: 86, column: 1, scope: !188)
!208 = !DILocation(line: 85, column: 3, scope: !188)
!209 = distinct !DISubprogram(name: "consumer", scope: !3, file: !3, line: 88, type: !184, scopeLine: 88, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !210)
!210 = !{!211, !212}
!211 = !DILocalVariable(name: "unused", arg: 1, scope: !209, file: !3, line: 88, type: !16)
!212 = !DILocalVariable(name: "value", scope: !209, file: !3, line: 89, type: !18)
!213 = !DILocation(line: 88, column: 29, scope: !209)
!214 = !DILocation(line: 89, column: 3, scope: !209)
!215 = !DILocation(line: 89, column: 7, scope: !209)
!216 = !DILocation(line: 90, column: 7, scope: !217)
!217 = distinct !DILexicalBlock(scope: !209, file: !3, line: 90, column: 7)
!218 = !DILocation(line: 90, column: 7, scope: !209)
!219 = !DILocation(line: 90, column: 32, scope: !220)
!220 = distinct !DILexicalBlock(scope: !221, file: !3, line: 90, column: 32)
!221 = distinct !DILexicalBlock(scope: !217, file: !3, line: 90, column: 32)
!222 = !DILocation(line: 90, column: 32, scope: !221)
!223 = !DILocation(line: 90, column: 32, scope: !217)
!224 = !DILocation(line: 91, column: 10, scope: !209)
!225 = !DILocation(line: 92, column: 1, scope: !209)
!226 = !DILocation(line: 91, column: 3, scope: !209)
!227 = !DISubprogram(name: "pthread_join", scope: !166, file: !166, line: 219, type: !228, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !187)
!228 = !DISubroutineType(types: !229)
!229 = !{!18, !61, !230}
!230 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !16, size: 64)
!231 = distinct !DISubprogram(name: "enqueue", scope: !3, file: !3, line: 38, type: !232, scopeLine: 38, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !234)
!232 = !DISubroutineType(types: !233)
!233 = !{!192, !118, !18}
!234 = !{!235, !236, !237, !238, !239, !243}
!235 = !DILocalVariable(name: "q", arg: 1, scope: !231, file: !3, line: 38, type: !118)
!236 = !DILocalVariable(name: "data", arg: 2, scope: !231, file: !3, line: 38, type: !18)
!237 = !DILocalVariable(name: "cell", scope: !231, file: !3, line: 39, type: !42)
!238 = !DILocalVariable(name: "pos", scope: !231, file: !3, line: 40, type: !32)
!239 = !DILocalVariable(name: "seq", scope: !240, file: !3, line: 43, type: !32)
!240 = distinct !DILexicalBlock(scope: !241, file: !3, line: 41, column: 12)
!241 = distinct !DILexicalBlock(scope: !242, file: !3, line: 41, column: 3)
!242 = distinct !DILexicalBlock(scope: !231, file: !3, line: 41, column: 3)
!243 = !DILocalVariable(name: "dif", scope: !240, file: !3, line: 44, type: !19)
!244 = !DILocation(line: 38, column: 35, scope: !231)
!245 = !DILocation(line: 38, column: 42, scope: !231)
!246 = !DILocation(line: 39, column: 3, scope: !231)
!247 = !DILocation(line: 39, column: 11, scope: !231)
!248 = !DILocation(line: 40, column: 3, scope: !231)
!249 = !DILocation(line: 40, column: 10, scope: !231)
!250 = !DILocation(line: 40, column: 38, scope: !231)
!251 = !DILocation(line: 40, column: 41, scope: !231)
!252 = !DILocation(line: 40, column: 16, scope: !231)
!253 = !DILocation(line: 41, column: 3, scope: !231)
!254 = !DILocation(line: 42, column: 13, scope: !240)
!255 = !DILocation(line: 42, column: 16, scope: !240)
!256 = !DILocation(line: 42, column: 23, scope: !240)
!257 = !DILocation(line: 42, column: 29, scope: !240)
!258 = !DILocation(line: 42, column: 32, scope: !240)
!259 = !DILocation(line: 42, column: 27, scope: !240)
!260 = !DILocation(line: 42, column: 10, scope: !240)
!261 = !DILocation(line: 43, column: 5, scope: !240)
!262 = !DILocation(line: 43, column: 12, scope: !240)
!263 = !DILocation(line: 43, column: 40, scope: !240)
!264 = !DILocation(line: 43, column: 46, scope: !240)
!265 = !DILocation(line: 43, column: 18, scope: !240)
!266 = !DILocation(line: 44, column: 5, scope: !240)
!267 = !DILocation(line: 44, column: 14, scope: !240)
!268 = !DILocation(line: 44, column: 30, scope: !240)
!269 = !DILocation(line: 44, column: 46, scope: !240)
!270 = !DILocation(line: 44, column: 34, scope: !240)
!271 = !DILocation(line: 45, column: 9, scope: !272)
!272 = distinct !DILexicalBlock(scope: !240, file: !3, line: 45, column: 9)
!273 = !DILocation(line: 45, column: 13, scope: !272)
!274 = !DILocation(line: 45, column: 9, scope: !240)
!275 = !DILocation(line: 46, column: 50, scope: !276)
!276 = distinct !DILexicalBlock(scope: !277, file: !3, line: 46, column: 11)
!277 = distinct !DILexicalBlock(scope: !272, file: !3, line: 45, column: 19)
!278 = !DILocation(line: 46, column: 53, scope: !276)
!279 = !DILocation(line: 46, column: 72, scope: !276)
!280 = !DILocation(line: 46, column: 76, scope: !276)
!281 = !DILocation(line: 46, column: 11, scope: !276)
!282 = !DILocation(line: 46, column: 11, scope: !277)
!283 = !DILocation(line: 48, column: 9, scope: !276)
!284 = !DILocation(line: 49, column: 5, scope: !277)
!285 = !DILocation(line: 49, column: 16, scope: !286)
!286 = distinct !DILexicalBlock(scope: !272, file: !3, line: 49, column: 16)
!287 = !DILocation(line: 49, column: 20, scope: !286)
!288 = !DILocation(line: 49, column: 16, scope: !272)
!289 = !DILocation(line: 50, column: 7, scope: !290)
!290 = distinct !DILexicalBlock(scope: !286, file: !3, line: 49, column: 25)
!291 = !DILocation(line: 52, column: 35, scope: !292)
!292 = distinct !DILexicalBlock(scope: !286, file: !3, line: 51, column: 12)
!293 = !DILocation(line: 52, column: 38, scope: !292)
!294 = !DILocation(line: 52, column: 13, scope: !292)
!295 = !DILocation(line: 52, column: 11, scope: !292)
!296 = !DILocation(line: 54, column: 3, scope: !241)
!297 = !DILocation(line: 41, column: 3, scope: !241)
!298 = distinct !{!298, !299, !300, !95}
!299 = !DILocation(line: 41, column: 3, scope: !242)
!300 = !DILocation(line: 54, column: 3, scope: !242)
!301 = !DILocation(line: 55, column: 16, scope: !231)
!302 = !DILocation(line: 55, column: 3, scope: !231)
!303 = !DILocation(line: 55, column: 9, scope: !231)
!304 = !DILocation(line: 55, column: 14, scope: !231)
!305 = !{!306, !77, i64 8}
!306 = !{!"", !78, i64 0, !77, i64 8}
!307 = !DILocation(line: 56, column: 26, scope: !231)
!308 = !DILocation(line: 56, column: 32, scope: !231)
!309 = !DILocation(line: 56, column: 42, scope: !231)
!310 = !DILocation(line: 56, column: 46, scope: !231)
!311 = !DILocation(line: 56, column: 3, scope: !231)
!312 = !DILocation(line: 57, column: 3, scope: !231)
!313 = !DILocation(line: 58, column: 1, scope: !231)
!314 = distinct !DISubprogram(name: "dequeue", scope: !3, file: !3, line: 60, type: !315, scopeLine: 60, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !317)
!315 = !DISubroutineType(types: !316)
!316 = !{!192, !118, !17}
!317 = !{!318, !319, !320, !321, !322, !326}
!318 = !DILocalVariable(name: "q", arg: 1, scope: !314, file: !3, line: 60, type: !118)
!319 = !DILocalVariable(name: "data", arg: 2, scope: !314, file: !3, line: 60, type: !17)
!320 = !DILocalVariable(name: "cell", scope: !314, file: !3, line: 61, type: !42)
!321 = !DILocalVariable(name: "pos", scope: !314, file: !3, line: 62, type: !32)
!322 = !DILocalVariable(name: "seq", scope: !323, file: !3, line: 65, type: !32)
!323 = distinct !DILexicalBlock(scope: !324, file: !3, line: 63, column: 12)
!324 = distinct !DILexicalBlock(scope: !325, file: !3, line: 63, column: 3)
!325 = distinct !DILexicalBlock(scope: !314, file: !3, line: 63, column: 3)
!326 = !DILocalVariable(name: "dif", scope: !323, file: !3, line: 66, type: !19)
!327 = !DILocation(line: 60, column: 35, scope: !314)
!328 = !DILocation(line: 60, column: 43, scope: !314)
!329 = !DILocation(line: 61, column: 3, scope: !314)
!330 = !DILocation(line: 61, column: 11, scope: !314)
!331 = !DILocation(line: 62, column: 3, scope: !314)
!332 = !DILocation(line: 62, column: 10, scope: !314)
!333 = !DILocation(line: 62, column: 38, scope: !314)
!334 = !DILocation(line: 62, column: 41, scope: !314)
!335 = !DILocation(line: 62, column: 16, scope: !314)
!336 = !DILocation(line: 63, column: 3, scope: !314)
!337 = !DILocation(line: 64, column: 13, scope: !323)
!338 = !DILocation(line: 64, column: 16, scope: !323)
!339 = !DILocation(line: 64, column: 23, scope: !323)
!340 = !DILocation(line: 64, column: 29, scope: !323)
!341 = !DILocation(line: 64, column: 32, scope: !323)
!342 = !DILocation(line: 64, column: 27, scope: !323)
!343 = !DILocation(line: 64, column: 10, scope: !323)
!344 = !DILocation(line: 65, column: 5, scope: !323)
!345 = !DILocation(line: 65, column: 12, scope: !323)
!346 = !DILocation(line: 65, column: 40, scope: !323)
!347 = !DILocation(line: 65, column: 46, scope: !323)
!348 = !DILocation(line: 65, column: 18, scope: !323)
!349 = !DILocation(line: 66, column: 5, scope: !323)
!350 = !DILocation(line: 66, column: 14, scope: !323)
!351 = !DILocation(line: 66, column: 30, scope: !323)
!352 = !DILocation(line: 66, column: 47, scope: !323)
!353 = !DILocation(line: 66, column: 51, scope: !323)
!354 = !DILocation(line: 66, column: 34, scope: !323)
!355 = !DILocation(line: 67, column: 9, scope: !356)
!356 = distinct !DILexicalBlock(scope: !323, file: !3, line: 67, column: 9)
!357 = !DILocation(line: 67, column: 13, scope: !356)
!358 = !DILocation(line: 67, column: 9, scope: !323)
!359 = !DILocation(line: 68, column: 50, scope: !360)
!360 = distinct !DILexicalBlock(scope: !361, file: !3, line: 68, column: 11)
!361 = distinct !DILexicalBlock(scope: !356, file: !3, line: 67, column: 19)
!362 = !DILocation(line: 68, column: 53, scope: !360)
!363 = !DILocation(line: 68, column: 72, scope: !360)
!364 = !DILocation(line: 68, column: 76, scope: !360)
!365 = !DILocation(line: 68, column: 11, scope: !360)
!366 = !DILocation(line: 68, column: 11, scope: !361)
!367 = !DILocation(line: 70, column: 9, scope: !360)
!368 = !DILocation(line: 71, column: 5, scope: !361)
!369 = !DILocation(line: 71, column: 16, scope: !370)
!370 = distinct !DILexicalBlock(scope: !356, file: !3, line: 71, column: 16)
!371 = !DILocation(line: 71, column: 20, scope: !370)
!372 = !DILocation(line: 71, column: 16, scope: !356)
!373 = !DILocation(line: 72, column: 7, scope: !374)
!374 = distinct !DILexicalBlock(scope: !370, file: !3, line: 71, column: 25)
!375 = !DILocation(line: 74, column: 35, scope: !376)
!376 = distinct !DILexicalBlock(scope: !370, file: !3, line: 73, column: 12)
!377 = !DILocation(line: 74, column: 38, scope: !376)
!378 = !DILocation(line: 74, column: 13, scope: !376)
!379 = !DILocation(line: 74, column: 11, scope: !376)
!380 = !DILocation(line: 76, column: 3, scope: !324)
!381 = !DILocation(line: 63, column: 3, scope: !324)
!382 = distinct !{!382, !383, !384, !95}
!383 = !DILocation(line: 63, column: 3, scope: !325)
!384 = !DILocation(line: 76, column: 3, scope: !325)
!385 = !DILocation(line: 77, column: 11, scope: !314)
!386 = !DILocation(line: 77, column: 17, scope: !314)
!387 = !DILocation(line: 77, column: 4, scope: !314)
!388 = !DILocation(line: 77, column: 9, scope: !314)
!389 = !DILocation(line: 78, column: 26, scope: !314)
!390 = !DILocation(line: 78, column: 32, scope: !314)
!391 = !DILocation(line: 78, column: 42, scope: !314)
!392 = !DILocation(line: 78, column: 48, scope: !314)
!393 = !DILocation(line: 78, column: 51, scope: !314)
!394 = !DILocation(line: 78, column: 46, scope: !314)
!395 = !DILocation(line: 78, column: 56, scope: !314)
!396 = !DILocation(line: 78, column: 3, scope: !314)
!397 = !DILocation(line: 79, column: 3, scope: !314)
!398 = !DILocation(line: 80, column: 1, scope: !314)
