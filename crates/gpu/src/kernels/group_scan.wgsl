// A prefix sum over the threads of a workgroup, for the kernels of the scan.

var<workgroup> sums: array<u32, 256>;

// Puts the sum of all threads up to each one into `sums` and returns the sum of those before this
// one. Every thread of the workgroup calls it.
fn sum_before(thread: u32, value: u32) -> u32 {
    sums[thread] = value;
    workgroupBarrier();
    for (var reach = 1u; reach < 256u; reach <<= 1u) {
        let before = select(0u, sums[max(thread, reach) - reach], thread >= reach);
        workgroupBarrier();
        sums[thread] = add(sums[thread], before);
        workgroupBarrier();
    }
    return select(0u, sums[max(thread, 1u) - 1u], thread > 0u);
}
