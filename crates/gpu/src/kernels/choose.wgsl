// Chooses the level at which entries, tests and giants together cost least, in units of one test:
// sorting and finding an entry moves about as many bytes as eight tests. The host may ask for a
// level of its own. Then cuts the columns along the sweep axis into buckets, no more than there are
// slots, in which entries are sorted.

@group(0) @binding(0) var<storage, read_write> work: array<u32>;

@compute @workgroup_size(1)
fn main() {
    let live = f32(work[LIVE]);
    let reach = bitcast<f32>(work[REACH]);
    let cells = vec2<u32>(work[CELLS], work[CELLS + 1u]);
    var best = 0u;
    var least = 0.0;
    for (var level = 0u; level < 11u; level += 1u) {
        let columns = ((cells - 1u) >> vec2<u32>(level)) + 1u;
        let entries = f32(work[LEVEL_ENTRIES + level]);
        let giants = f32(work[LEVEL_GIANTS + level]);
        let tests = entries * entries / f32(columns.x * columns.y) * reach;
        let cost = 8.0 * entries + tests + giants * live;
        if level == 0u || cost < least {
            best = level;
            least = cost;
        }
    }
    if work[LEVEL_WANTED] < 11u {
        best = work[LEVEL_WANTED];
    }
    let columns = ((cells - 1u) >> vec2<u32>(best)) + 1u;
    work[LEVEL] = best;
    work[COLUMNS_IN_ROW] = columns.x;
    work[COLUMNS] = columns.x * columns.y;
    work[RUNS] = columns.x * columns.y * work[GROUPS];
    var shift = 0u;
    while shift < 10u && work[RUNS] << (10u - shift) > work[SLOTS] {
        shift += 1u;
    }
    work[SLICE_SHIFT] = shift;
    // The last bucket is that of the giants.
    work[BUCKETS] = (work[RUNS] << (10u - shift)) + 1u;
    work[GIANTS] = work[LEVEL_GIANTS + best];
}
