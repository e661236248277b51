// Counts the entries of each bucket: those of the columns that each box touches, of those that this
// range of columns holds. Giants are in the last bucket, and in the last range.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> filters: array<u32>;
@group(0) @binding(4) var<storage, read_write> counts: array<atomic<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let mine = share(work[SLOTS], group.x, params.groups);
    let shift = work[LEVEL] + work[FINE];
    let in_row = work[COLUMNS_IN_ROW];
    let first = work[COLUMN_FIRST];
    let end = work[COLUMN_END];
    let groups = work[GROUPS];
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        let span = spans[i];
        if span.x == DEAD {
            continue;
        }
        let columns = columns_of(span, shift);
        if size_of(columns) > GIANT {
            if end == 0xffffffffu {
                atomicAdd(&counts[work[BUCKETS] - 1u], 1u);
            }
            continue;
        }
        let filter_group = group_of(i, groups);
        for (var row = columns.z; row <= columns.w; row += 1u) {
            for (var column = columns.x; column <= columns.y; column += 1u) {
                let number = row * in_row + column;
                if number >= first && number < end {
                    atomicAdd(&counts[bucket_of(number * groups + filter_group, span)], 1u);
                }
            }
        }
    }
}
