// Prefix sum, first of three kernels: the sum of each workgroup's share, and the largest element.

struct Params {
    count_at: u32, // word of `work` that holds the number of elements
    capacity: u32, // more elements than this are not there: do nothing
    partials: u32, // word of `work` from which the sums are written
    groups: u32,
    longest_at: u32, // the largest element goes to this word of `work` if it is larger
    apart: u32,      // the last elements that do not count for it
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> data: array<u32>;

var<workgroup> sums: array<u32, 256>;
var<workgroup> longest: atomic<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let count = fitting(atomicLoad(&work[params.count_at]), params.capacity);
    let mine = share(count, group.x, params.groups);
    var sum = 0u;
    var largest = 0u;
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let value = data[i];
        sum = add(sum, value);
        largest = max(largest, select(0u, value, i + params.apart < count));
    }
    atomicMax(&longest, largest);
    sums[thread] = sum;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if thread < half {
            sums[thread] = add(sums[thread], sums[thread + half]);
        }
        workgroupBarrier();
    }
    if thread == 0u {
        atomicStore(&work[params.partials + group.x], sums[0]);
        atomicMax(&work[params.longest_at], atomicLoad(&longest));
    }
}
