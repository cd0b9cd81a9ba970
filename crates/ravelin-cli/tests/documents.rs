//! The commands that the documents show are run, and must print what is shown.

#[test]
fn commands_in_documents_work() {
    // The examples are named from the root of the project.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the root of the project");
    trycmd::TestCases::new().case("README.md").case("docs/*.md").run();
}
