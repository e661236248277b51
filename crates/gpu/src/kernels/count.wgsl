// Counts the entries of each box: the columns it touches, of those that this range of columns
// holds; a giant has one, in the last range.

struct Params { groups: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let mine = share(work[SLOTS], group.x, params.groups);
    let level = work[LEVEL];
    let in_row = work[COLUMNS_IN_ROW];
    let first = work[COLUMN_FIRST];
    let end = work[COLUMN_END];
    let whole = first == 0u && end == 0xffffffffu;
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        var count = 0u;
        if spans[i].x != DEAD {
            let columns = columns_of(spans[i], level);
            let size = size_of(columns);
            if size > GIANT {
                count = select(0u, 1u, end == 0xffffffffu);
            } else if whole {
                count = size;
            } else {
                for (var row = columns.z; row <= columns.w; row += 1u) {
                    for (var column = columns.x; column <= columns.y; column += 1u) {
                        let number = row * in_row + column;
                        count += select(0u, 1u, number >= first && number < end);
                    }
                }
            }
        }
        counts[i] = count;
    }
}
