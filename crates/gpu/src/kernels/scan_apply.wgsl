// Prefix sum, third of three kernels: each workgroup sums its share again, from the sum of all
// shares before it (`scan_small` has just made those), and writes the exclusive sums in place.

struct Params {
    count_at: u32,
    capacity: u32,
    partials: u32,
    groups: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> data: array<u32>;

var<workgroup> count: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if thread == 0u {
        count = fitting(work[params.count_at], params.capacity);
    }
    let mine = share(workgroupUniformLoad(&count), group.x, params.groups);
    var base = work[params.partials + group.x];
    for (var tile = mine.x; tile < mine.y; tile += 1024u) {
        let first = tile + thread * 4u;
        var values: array<u32, 4>;
        var sum = 0u;
        for (var k = 0u; k < 4u; k += 1u) {
            values[k] = select(0u, data[min(first + k, mine.y - 1u)], first + k < mine.y);
            sum = add(sum, values[k]);
        }
        var next = add(base, sum_before(thread, sum));
        for (var k = 0u; k < 4u; k += 1u) {
            if first + k < mine.y {
                data[first + k] = next;
            }
            next = add(next, values[k]);
        }
        base = add(base, sums[255]);
        workgroupBarrier();
    }
}
