//! The five documents behind the library: what each is, what it built, and what each of its
//! figures, tables and algorithms showed, in our words.

mod campbell;
mod capannini;
mod chapter;
mod loi;
mod tracy;

/// A document, as the report shows it.
#[derive(Debug)]
pub(super) struct Document {
    /// Its name in the report: the author's, where there is one.
    pub name: &'static str,
    /// Authors, title and year.
    pub reference: &'static str,
    /// What it is and what it is about.
    pub about: &'static str,
    /// The experiments that measure it again.
    pub experiments: &'static [&'static str],
    /// Name, module and a remark of everything it built.
    pub systems: &'static [(&'static str, &'static str, &'static str)],
    /// What of it is neither built nor measured here, and why.
    pub left_out: &'static [(&'static str, &'static str)],
    /// All of them, in the document's order.
    pub figures: &'static [PaperFigure],
}

/// A figure, a table or an algorithm of a document.
#[derive(Debug)]
pub(super) struct PaperFigure {
    /// Its name in the document.
    pub number: &'static str,
    /// What it showed.
    pub showed: &'static str,
    /// What there is of it here.
    pub here: Here,
}

/// What there is of a figure here.
#[derive(Debug)]
pub(super) enum Here {
    /// Drawn again from what was measured: names of pictures without `.svg`.
    Plot(&'static [&'static str]),
    /// Its numbers are in the claims of a part.
    Claims(&'static str),
    /// It explains or lists something that is built in a module.
    Module(&'static str),
    /// There is nothing to measure.
    Words(&'static str),
}

/// A figure in one line.
const fn figure(number: &'static str, showed: &'static str, here: Here) -> PaperFigure {
    PaperFigure { number, showed, here }
}

/// The documents in the order of the report.
pub(super) const DOCUMENTS: &[Document] =
    &[campbell::DOCUMENT, capannini::DOCUMENT, tracy::DOCUMENT, chapter::DOCUMENT, loi::DOCUMENT];

#[cfg(test)]
mod numbers;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::reproduce::EXPERIMENTS;
    use crate::reproduce::session::{all_parts, name_of};

    #[test]
    fn every_experiment_belongs_to_one_document() {
        for experiment in EXPERIMENTS {
            let owners = DOCUMENTS.iter().filter(|d| d.experiments.contains(&experiment.name));
            assert_eq!(owners.count(), 1, "{}", experiment.name);
        }
    }

    #[test]
    fn every_module_and_every_part_that_is_named_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let parts: Vec<String> = all_parts().map(name_of).collect();
        for document in DOCUMENTS {
            for (name, module, _) in document.systems {
                assert!(root.join(module).exists(), "{name}: {module}");
            }
            for figure in document.figures {
                match figure.here {
                    Here::Module(path) => assert!(root.join(path).exists(), "{path}"),
                    Here::Claims(part) => assert!(parts.iter().any(|one| one == part), "{part}"),
                    Here::Plot(_) | Here::Words(_) => {}
                }
            }
        }
    }
}
