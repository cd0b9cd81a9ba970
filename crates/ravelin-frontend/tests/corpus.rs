//! The files of the folders `*_corpus`, which tests of several kinds read.

use std::fs;
use std::path::Path;

/// Names and texts of the files in a folder of tests, in order.
pub fn files(folder: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder))
            .expect("the corpus is there")
            .map(|entry| {
                let path = entry.expect("a readable folder").path();
                let name = path.file_name().expect("a file").to_string_lossy().into_owned();
                (name, fs::read_to_string(&path).expect("a readable file"))
            })
            .collect();
    files.sort();
    files
}

/// The texts alone, in the order of the names.
pub fn texts(folder: &str) -> Vec<String> {
    files(folder).into_iter().map(|(_, text)| text).collect()
}
