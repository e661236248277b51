// What the planning kernels share: which boxes count for the statistics, and the f32 of an
// ordered number. Rounding and flushing here decide speed, never results.

fn is_usable(lower: vec3<u32>, upper: vec3<u32>) -> bool {
    let largest = max(lower & vec3<u32>(0x7fffffffu), upper & vec3<u32>(0x7fffffffu));
    return max(largest.x, max(largest.y, largest.z)) < 0x7e800000u;
}

fn unordered(number: u32) -> f32 {
    return bitcast<f32>(select(~number, number & 0x7fffffffu, (number & 0x80000000u) != 0u));
}
