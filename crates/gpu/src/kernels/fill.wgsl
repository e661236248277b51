// Writes the entries of each box to their buckets, whose beginnings the prefix sum gave; afterwards
// `counts` holds where each bucket ends. The order within a bucket is that of the atomic
// operations, and nothing depends on it: the sort follows. The key of an entry is its run (column
// and filter group) and then the ordered lower bound on the sweep axis: 48 bits that order exactly,
// in place of the document's shift of each column along the axis.

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> filters: array<u32>;
@group(0) @binding(4) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> boxes: array<u32>;
@group(0) @binding(6) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> values: array<u32>;

fn put(bucket: u32, key: vec2<u32>, box: u32) {
    let at = atomicAdd(&counts[bucket], 1u);
    keys[at] = key;
    values[at] = box;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let all = work[ENTRIES];
    let mine = share(select(work[SLOTS], 0u, all > params.capacity), group.x, params.groups);
    let shift = work[LEVEL] + work[FINE];
    let in_row = work[COLUMNS_IN_ROW];
    let first = work[COLUMN_FIRST];
    let end = work[COLUMN_END];
    let axis = work[AXIS];
    let groups = work[GROUPS];
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let span = spans[i];
        if span.x == DEAD {
            continue;
        }
        let start = ordered(boxes[i * 6u + axis]);
        let columns = columns_of(span, shift);
        if size_of(columns) > GIANT {
            if end == 0xffffffffu {
                put(work[BUCKETS] - 1u, vec2<u32>(GIANT_RUN, start), i);
            }
            continue;
        }
        let filter_group = group_of(i, groups);
        for (var row = columns.z; row <= columns.w; row += 1u) {
            for (var column = columns.x; column <= columns.y; column += 1u) {
                let number = row * in_row + column;
                if number >= first && number < end {
                    let run = number * groups + filter_group;
                    put(bucket_of(run, span), vec2<u32>(run, start), i);
                }
            }
        }
    }
}
