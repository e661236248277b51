// Sorts the pairs of each box, which stand together, by their second slot, by insertion, a thread
// for a box. If a box has more than LONGEST_LOCAL nothing is done, and the host asks for a sort by
// digits.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> pairs: array<vec2<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let idle = work[PAIRS] > params.capacity || work[LONGEST_LIST] > LONGEST_LOCAL;
    let mine = share(select(work[SLOTS], 0u, idle), group.x, params.groups);
    for (var slot = mine.x + thread; slot < mine.y; slot += 256u) {
        let begin = select(0u, ends[max(slot, 1u) - 1u], slot > 0u);
        let end = ends[slot];
        for (var i = begin + 1u; i < end; i += 1u) {
            let second = pairs[i].y;
            var to = i;
            while to > begin {
                let other = pairs[to - 1u].y;
                if other < second {
                    break;
                }
                pairs[to].y = other;
                to -= 1u;
            }
            if to < i {
                pairs[to].y = second;
            }
        }
    }
}
