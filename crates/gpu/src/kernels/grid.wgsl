// What the kernels that look at cells share. A box spans cells of the finest grid; at level L,
// 2^L by 2^L of these are one column. A box over more than GIANT columns is a giant: it has one
// entry, behind all others, and is tested against every box.

const GIANT: u32 = 32u;
const DEAD: u32 = 0xffffffffu;
const GIANT_RUN: u32 = 0xffffu;

// The columns of a span at a level: first and last on either axis.
fn columns_of(span: vec2<u32>, level: u32) -> vec4<u32> {
    return vec4<u32>(
        (span.x & 0xffffu) >> level,
        (span.x >> 16u) >> level,
        (span.y & 0xffffu) >> level,
        (span.y >> 16u) >> level,
    );
}

fn size_of(columns: vec4<u32>) -> u32 {
    return (columns.y - columns.x + 1u) * (columns.w - columns.z + 1u);
}
