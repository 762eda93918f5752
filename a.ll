; ModuleID = '__compute_module_subtract_bitcast-convert_fusion_kernel_module'
source_filename = "__compute_module_subtract_bitcast-convert_fusion_kernel_module"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable
define noalias noundef ptr @subtract_bitcast-convert_fusion(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = load ptr, ptr %3, align 8, !invariant.load !3, !dereferenceable !4
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !3, !dereferenceable !4
  tail call void @llvm.experimental.noalias.scope.decl(metadata !5)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !8)
  br label %vector.ph

vector.ph:                                        ; preds = %1, %vector.ph
  %7 = phi i64 [ 0, %1 ], [ %136, %vector.ph ]
  %8 = mul nuw nsw i64 %7, 5
  %9 = getelementptr inbounds nuw [8 x i8], ptr %4, i64 %8
  %unmaskedload = load <4 x i64>, ptr %9, align 8, !invariant.load !3, !alias.scope !5, !noalias !8
  %10 = and <4 x i64> %unmaskedload, splat (i64 9223372036854775807)
  %11 = and <4 x i64> %unmaskedload, splat (i64 -9223372036854775808)
  %12 = sub <4 x i64> %10, %11
  %13 = bitcast <4 x i64> %12 to <4 x double>
  %14 = tail call <4 x double> @llvm.fabs.v4f64(<4 x double> %13)
  %15 = fcmp ogt <4 x double> %14, splat (double 1.000000e+00)
  %16 = select <4 x i1> %15, <4 x double> splat (double 1.000000e+00), <4 x double> %14
  %17 = select <4 x i1> %15, <4 x double> %14, <4 x double> splat (double 1.000000e+00)
  %18 = fcmp oeq <4 x double> %16, splat (double +inf)
  %19 = fcmp oeq <4 x double> %17, splat (double +inf)
  %20 = fcmp oeq <4 x double> %17, zeroinitializer
  %21 = fdiv <4 x double> %16, %17
  %22 = and <4 x i1> %18, %19
  %23 = select <4 x i1> %20, <4 x double> zeroinitializer, <4 x double> %21
  %24 = select <4 x i1> %22, <4 x double> splat (double 1.000000e+00), <4 x double> %23
  %25 = fadd <4 x double> %24, splat (double -1.000000e+00)
  %26 = fadd <4 x double> %24, splat (double 1.000000e+00)
  %27 = fcmp ogt <4 x double> %24, splat (double f0x3FDA827999FCEF31)
  %28 = fdiv <4 x double> %25, %26
  %29 = select <4 x i1> %27, <4 x double> %28, <4 x double> %24
  %30 = fmul <4 x double> %29, %29
  %31 = fmul <4 x double> %30, splat (double f0x3F90AD10221730D6)
  %32 = fadd <4 x double> %31, splat (double f0xBFA1B32A3266AF2E)
  %33 = fmul <4 x double> %30, %32
  %34 = fadd <4 x double> %33, splat (double f0x3FA74DD67F0D3109)
  %35 = fmul <4 x double> %30, %34
  %36 = fadd <4 x double> %35, splat (double f0xBFAAC7A7BD8F05C0)
  %37 = fmul <4 x double> %30, %36
  %38 = fadd <4 x double> %37, splat (double f0x3FAE19A10824A50B)
  %39 = fmul <4 x double> %30, %38
  %40 = fadd <4 x double> %39, splat (double f0xBFB110E87E6A8722)
  %41 = fmul <4 x double> %30, %40
  %42 = fadd <4 x double> %41, splat (double f0x3FB3B1392D7E8F74)
  %43 = fmul <4 x double> %30, %42
  %44 = fadd <4 x double> %43, splat (double f0xBFB745D165DE250B)
  %45 = fmul <4 x double> %30, %44
  %46 = fadd <4 x double> %45, splat (double f0x3FBC71C71C3045BA)
  %47 = fmul <4 x double> %30, %46
  %48 = fadd <4 x double> %47, splat (double f0xBFC249249248D7E6)
  %49 = fmul <4 x double> %30, %48
  %50 = fadd <4 x double> %49, splat (double f0x3FC9999999999953)
  %51 = fmul <4 x double> %30, %50
  %52 = fadd <4 x double> %51, splat (double f0xBFD5555555555555)
  %53 = fmul <4 x double> %30, %52
  %54 = select <4 x i1> %27, <4 x double> splat (double 1.000000e+00), <4 x double> zeroinitializer
  %55 = fsub <4 x double> splat (double 2.000000e+00), %54
  %56 = fneg <4 x double> %29
  %57 = select <4 x i1> %15, <4 x double> %56, <4 x double> %29
  %58 = fmul <4 x double> %57, %53
  %59 = select <4 x i1> %15, <4 x double> %55, <4 x double> %54
  %60 = fmul nnan <4 x double> %59, splat (double f0x3CD08D313198A2E0)
  %61 = fadd <4 x double> %60, %58
  %62 = fmul nnan <4 x double> %59, splat (double f0x3FE921FB54442D10)
  %63 = fadd <4 x double> %57, %61
  %64 = fcmp ord <4 x double> %13, zeroinitializer
  %65 = fadd <4 x double> %62, %63
  %66 = select <4 x i1> %64, <4 x double> %65, <4 x double> %13
  %67 = tail call <4 x double> @llvm.fabs.v4f64(<4 x double> %66)
  %68 = bitcast <4 x double> %67 to <4 x i64>
  %69 = and <4 x i64> %12, splat (i64 -9223372036854775808)
  %70 = sub <4 x i64> %68, %69
  %71 = getelementptr inbounds nuw [8 x i8], ptr %6, i64 %8
  store <4 x i64> %70, ptr %71, align 8, !alias.scope !8, !noalias !5
  %72 = add nuw nsw i64 %8, 4
  %73 = getelementptr inbounds nuw [8 x i8], ptr %4, i64 %72
  %wide.masked.load.1 = tail call <4 x i64> @llvm.masked.load.v4i64.p0(ptr nonnull align 8 %73, <4 x i1> <i1 true, i1 false, i1 false, i1 false>, <4 x i64> poison), !invariant.load !3, !alias.scope !5, !noalias !8
  %74 = and <4 x i64> %wide.masked.load.1, splat (i64 9223372036854775807)
  %75 = and <4 x i64> %wide.masked.load.1, splat (i64 -9223372036854775808)
  %76 = sub <4 x i64> %74, %75
  %77 = bitcast <4 x i64> %76 to <4 x double>
  %78 = tail call <4 x double> @llvm.fabs.v4f64(<4 x double> %77)
  %79 = fcmp ogt <4 x double> %78, splat (double 1.000000e+00)
  %80 = select <4 x i1> %79, <4 x double> splat (double 1.000000e+00), <4 x double> %78
  %81 = select <4 x i1> %79, <4 x double> %78, <4 x double> splat (double 1.000000e+00)
  %82 = fcmp oeq <4 x double> %80, splat (double +inf)
  %83 = fcmp oeq <4 x double> %81, splat (double +inf)
  %84 = fcmp oeq <4 x double> %81, zeroinitializer
  %85 = fdiv <4 x double> %80, %81
  %86 = and <4 x i1> %82, %83
  %87 = select <4 x i1> %84, <4 x double> zeroinitializer, <4 x double> %85
  %88 = select <4 x i1> %86, <4 x double> splat (double 1.000000e+00), <4 x double> %87
  %89 = fadd <4 x double> %88, splat (double -1.000000e+00)
  %90 = fadd <4 x double> %88, splat (double 1.000000e+00)
  %91 = fcmp ogt <4 x double> %88, splat (double f0x3FDA827999FCEF31)
  %92 = fdiv <4 x double> %89, %90
  %93 = select <4 x i1> %91, <4 x double> %92, <4 x double> %88
  %94 = fmul <4 x double> %93, %93
  %95 = fmul <4 x double> %94, splat (double f0x3F90AD10221730D6)
  %96 = fadd <4 x double> %95, splat (double f0xBFA1B32A3266AF2E)
  %97 = fmul <4 x double> %94, %96
  %98 = fadd <4 x double> %97, splat (double f0x3FA74DD67F0D3109)
  %99 = fmul <4 x double> %94, %98
  %100 = fadd <4 x double> %99, splat (double f0xBFAAC7A7BD8F05C0)
  %101 = fmul <4 x double> %94, %100
  %102 = fadd <4 x double> %101, splat (double f0x3FAE19A10824A50B)
  %103 = fmul <4 x double> %94, %102
  %104 = fadd <4 x double> %103, splat (double f0xBFB110E87E6A8722)
  %105 = fmul <4 x double> %94, %104
  %106 = fadd <4 x double> %105, splat (double f0x3FB3B1392D7E8F74)
  %107 = fmul <4 x double> %94, %106
  %108 = fadd <4 x double> %107, splat (double f0xBFB745D165DE250B)
  %109 = fmul <4 x double> %94, %108
  %110 = fadd <4 x double> %109, splat (double f0x3FBC71C71C3045BA)
  %111 = fmul <4 x double> %94, %110
  %112 = fadd <4 x double> %111, splat (double f0xBFC249249248D7E6)
  %113 = fmul <4 x double> %94, %112
  %114 = fadd <4 x double> %113, splat (double f0x3FC9999999999953)
  %115 = fmul <4 x double> %94, %114
  %116 = fadd <4 x double> %115, splat (double f0xBFD5555555555555)
  %117 = fmul <4 x double> %94, %116
  %118 = select <4 x i1> %91, <4 x double> splat (double 1.000000e+00), <4 x double> zeroinitializer
  %119 = fsub <4 x double> splat (double 2.000000e+00), %118
  %120 = fneg <4 x double> %93
  %121 = select <4 x i1> %79, <4 x double> %120, <4 x double> %93
  %122 = fmul <4 x double> %121, %117
  %123 = select <4 x i1> %79, <4 x double> %119, <4 x double> %118
  %124 = fmul nnan <4 x double> %123, splat (double f0x3CD08D313198A2E0)
  %125 = fadd <4 x double> %124, %122
  %126 = fmul nnan <4 x double> %123, splat (double f0x3FE921FB54442D10)
  %127 = fadd <4 x double> %121, %125
  %128 = fcmp ord <4 x double> %77, zeroinitializer
  %129 = fadd <4 x double> %126, %127
  %130 = select <4 x i1> %128, <4 x double> %129, <4 x double> %77
  %131 = tail call <4 x double> @llvm.fabs.v4f64(<4 x double> %130)
  %132 = bitcast <4 x double> %131 to <4 x i64>
  %133 = and <4 x i64> %76, <i64 -9223372036854775808, i64 poison, i64 poison, i64 poison>
  %134 = sub <4 x i64> %132, %133
  %135 = getelementptr inbounds nuw [8 x i8], ptr %6, i64 %72
  tail call void @llvm.masked.store.v4i64.p0(<4 x i64> %134, ptr align 8 %135, <4 x i1> <i1 true, i1 false, i1 false, i1 false>), !alias.scope !8, !noalias !5
  %136 = add nuw nsw i64 %7, 1
  %exitcond2.not = icmp eq i64 %136, 3
  br i1 %exitcond2.not, label %subtract_bitcast-convert_fusion_wrapped.exit, label %vector.ph, !llvm.loop !10

subtract_bitcast-convert_fusion_wrapped.exit:     ; preds = %vector.ph
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <4 x i64> @llvm.masked.load.v4i64.p0(ptr captures(none), <4 x i1>, <4 x i64>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>) #3

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v4i64.p0(<4 x i64>, ptr captures(none), <4 x i1>) #4

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, target_mem: none) uwtable "frame-pointer"="all" "prefer-vector-width"="256" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 0}
!2 = !{!"xla_cpu_emitter__loop_fusion_kernel_emitter__hlo_opcode__fusion"}
!3 = !{}
!4 = !{i64 120}
!5 = !{!6}
!6 = distinct !{!6, !7, !"subtract_bitcast-convert_fusion_wrapped: argument 0"}
!7 = distinct !{!7, !"subtract_bitcast-convert_fusion_wrapped"}
!8 = !{!9}
!9 = distinct !{!9, !7, !"subtract_bitcast-convert_fusion_wrapped: argument 1"}
!10 = distinct !{!10, !11}
!11 = !{!"llvm.loop.unroll.disable"}
