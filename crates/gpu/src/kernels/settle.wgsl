// Sorts the entries of each bucket by start and then by slot, by insertion, a thread for a bucket.
// Buckets stand in the order of column and slice, so that all entries are sorted then. If one is
// longer than LONGEST_LOCAL nothing is done, and the host asks for a sort by digits.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> values: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let idle = work[ENTRIES] > params.capacity || work[LONGEST] > LONGEST_LOCAL;
    // Giants need no order.
    let mine = share(select(work[BUCKETS] - 1u, 0u, idle), group.x, params.groups);
    for (var bucket = mine.x + thread; bucket < mine.y; bucket += 256u) {
        let begin = select(0u, ends[max(bucket, 1u) - 1u], bucket > 0u);
        let end = ends[bucket];
        for (var i = begin + 1u; i < end; i += 1u) {
            let start = keys[i].y;
            let slot = values[i];
            var to = i;
            while to > begin {
                let other = keys[to - 1u].y;
                let its_slot = values[to - 1u];
                if other < start || (other == start && its_slot < slot) {
                    break;
                }
                keys[to].y = other;
                values[to] = its_slot;
                to -= 1u;
            }
            if to < i {
                keys[to].y = start;
                values[to] = slot;
            }
        }
    }
}
