// Exclusive prefix sum of a stretch of `work`, by one workgroup: the sums of shares, the digit
// counts of the sort, the hits of the sweep's threads. The total goes to a word of its own.

struct Params {
    first: u32,  // word of `work` where the stretch begins
    length: u32,
    total_at: u32,
    middle_at: u32, // the sum of the first half goes here; nowhere if it is 0xffffffff
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
    let each = (params.length + 255u) / 256u;
    let begin = min(thread * each, params.length);
    let end = min(begin + each, params.length);
    var sum = 0u;
    for (var i = begin; i < end; i += 1u) {
        sum = add(sum, work[params.first + i]);
    }
    var next = sum_before(thread, sum);
    for (var i = begin; i < end; i += 1u) {
        let value = work[params.first + i];
        work[params.first + i] = next;
        if i * 2u == params.length && params.middle_at != 0xffffffffu {
            work[params.middle_at] = next;
        }
        next = add(next, value);
    }
    if thread == 255u {
        work[params.total_at] = next;
    }
}
