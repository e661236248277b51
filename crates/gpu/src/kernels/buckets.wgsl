// What counting and filling the entries share: the bucket of an entry is its run (column and
// filter group) and, below that, its slice of the sweep axis.

fn bucket_of(run: u32, span: vec2<u32>) -> u32 {
    let shift = work[SLICE_SHIFT];
    return (run << (10u - shift)) + (span.x >> (20u + shift));
}

// The filter group of a box.
fn group_of(box: u32, groups: u32) -> u32 {
    if groups > 1u {
        return filters[box * 4u + 3u] >> 8u;
    }
    return 0u;
}
