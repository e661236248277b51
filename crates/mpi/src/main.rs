//! The `jostle-mpi` command: overlapping pairs of boxes spread over the ranks of an MPI job.

#![forbid(unsafe_code)]

mod command;

fn main() -> std::process::ExitCode {
    command::main()
}
