// Counts what each entry has to be tested against: the entries of its column that begin before it
// ends, found by binary search; for a giant, every slot. And puts down for each entry what the
// sweep looks at first: the slot, and the cells of the finest grid that the box takes within the
// column, in 32 bits.
//
// ```text
// bits   0-6      7          8-14     15         16-22   24-30   31
//        first u  begins     first v  begins     last u  last v  giant
//                 before the          before the
//                 column, u           column, v
// ```

struct Params { groups: u32, capacity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<u32>;
@group(0) @binding(6) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> items: array<vec2<u32>>;

// The cells of a box within a column. Both maps, from cells to those of the column and from those
// to seven bits, never descend: what is apart here is apart.
fn look_of(span: vec2<u32>, column: u32) -> u32 {
    let shift = work[LEVEL] + work[FINE];
    let in_row = work[COLUMNS_IN_ROW];
    let cells = columns_of(span, 0u);
    let begin = vec2<u32>(column % in_row, column / in_row) << vec2<u32>(shift);
    let last = begin + (1u << shift) - 1u;
    let coarser = vec2<u32>(max(shift, 7u) - 7u);
    let low = (max(cells.xz, begin) - begin) >> coarser;
    let high = (min(cells.yw, last) - begin) >> coarser;
    let before = select(vec2<u32>(), vec2<u32>(128u), cells.xz < begin);
    let both = low | before | (high << vec2<u32>(16u));
    return both.x | (both.y << 8u);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let entries = work[ENTRIES];
    let unsorted = work[LOCAL] == 1u && work[LONGEST] > LONGEST_LOCAL;
    let mine = share(fitting(entries, params.capacity), group.x, params.groups);
    let axis = work[AXIS];
    let groups = work[GROUPS];
    for (var i = mine.x + thread; i < mine.y; i += 256u) {
        var count = 0u;
        if !unsorted && i >= work[ITEM_FIRST] && i < work[ITEM_END] {
            let key = keys[i];
            let slot = values[i];
            var look = GIANT_LOOK;
            if key.x != GIANT_RUN {
                look = look_of(spans[slot], key.x / groups);
            }
            items[i] = vec2<u32>(slot, look);
            if key.x == GIANT_RUN {
                count = work[SLOTS];
            } else {
                let end = ordered(boxes[slot * 6u + 3u + axis]);
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
