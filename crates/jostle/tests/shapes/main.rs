//! Shapes, meshes, the narrow phase and worlds from outside, as one program: linking takes longer
//! than most of these tests.

mod mesh_support;
mod narrow_support;
mod parry_support;
mod random;

mod mesh_casts;
mod mesh_contacts;
mod mesh_continuous;
mod mesh_convex;
mod mesh_queries;
mod narrow_caches;
mod narrow_cases;
mod narrow_casts;
mod narrow_corners;
mod narrow_flat;
mod narrow_hostile;
mod narrow_motion;
mod narrow_parry;
mod narrow_properties;
mod narrow_rays;
mod narrow_sample;
#[cfg(feature = "serde")]
mod narrow_snapshot;
mod shape_mass;
mod shape_rounded;
mod thin_hulls;
mod world_exclusions;
mod world_meshes;
