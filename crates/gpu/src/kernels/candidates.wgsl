// Counts what each entry has to be tested against: the entries of its column that begin before it
// ends, found by binary search; for a giant, every slot.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let entries = work[ENTRIES];
    let mine = share(fitting(entries, params.capacity), group.x, params.groups);
    let axis = work[AXIS];
    let groups = work[GROUPS];
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        var count = 0u;
        if i >= work[ITEM_FIRST] && i < work[ITEM_END] {
            let key = keys[i];
            if key.x == GIANT_RUN {
                count = work[SLOTS];
            } else {
                let end = ordered(boxes[values[i] * 6u + 3u + axis]);
                let may = work[MAY_PAIR + key.x % groups];
                for (var other = 0u; other < groups; other += 1u) {
                    if ((may >> other) & 1u) == 1u {
                        let among = candidates_in(i, key, end, other);
                        count += among.y - among.x;
                    }
                }
            }
        }
        counts[i] = count;
    }
}
