//! What a user's tests look like.

#[cfg(test)]
mod tests {
    use ravelin::{Answer, Budget, Document, Model, Program, Verdict};

    #[test]
    fn the_model_is_robust() {
        ravelin::assert_robust!("models/sb-fenced.rav", tso, rc20);
    }

    #[test]
    #[should_panic(expected = "reads `y` on line")]
    fn the_witness_is_the_panic_message() {
        ravelin::assert_robust!("models/sb.rav", tso);
    }

    #[test]
    fn an_answer_is_read_back_from_json() -> Result<(), Box<dyn std::error::Error>> {
        let program = Program::read("models/sb.rav")?;
        let answer = ravelin::check(&program).model(Model::Tso).budget(Budget::seconds(10)).run()?;
        let document = Document::read(&Document::new("check", vec![answer.clone()]).text())?;
        assert_eq!(document.answers[0].to_string(), answer.to_string());
        let Answer::Robustness(robustness) = &document.answers[0] else { panic!("{answer}") };
        assert_eq!(robustness.verdict, Verdict::Violated);
        assert_eq!(robustness.witness.as_ref().map(|witness| witness.helpers.len()), Some(1));
        Ok(())
    }
}
