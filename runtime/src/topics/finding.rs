//! What is wrong with a topic, and what mends it.

use std::fmt;

/// Something about a topic that breaks what retry topics and dead letters promise, or may break it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicFinding {
    /// The topic.
    pub topic: String,
    /// What is wrong.
    pub problem: String,
    /// The command or call that mends it.
    pub remedy: String,
    /// Whether nothing starts before it is mended, as records would be lost or nothing could be moved to the topic.
    /// Otherwise it is a warning.
    pub fatal: bool,
}

impl fmt::Display for TopicFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.fatal { "error" } else { "warning" };
        write!(f, "{level}: `{}` {}\n  to mend it: {}", self.topic, self.problem, self.remedy)
    }
}

/// Everything that is wrong with the topics, at least one of it fatal. Its text lists all of it, each with what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicFindings {
    findings: Vec<TopicFinding>,
}

impl TopicFindings {
    /// The findings back when none is fatal.
    pub(super) fn refuse_fatal(findings: Vec<TopicFinding>) -> Result<Vec<TopicFinding>, Self> {
        if findings.iter().any(|finding| finding.fatal) { Err(Self { findings }) } else { Ok(findings) }
    }

    /// All findings, warnings among them.
    #[must_use]
    pub fn findings(&self) -> &[TopicFinding] {
        &self.findings
    }
}

impl fmt::Display for TopicFindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the topics are not as retry and dead letters need them:")?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

impl std::error::Error for TopicFindings {}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(topic: &str, fatal: bool) -> TopicFinding {
        TopicFinding { topic: topic.to_owned(), problem: "is wrong".to_owned(), remedy: "mend it".to_owned(), fatal }
    }

    #[test]
    fn one_fatal_finding_refuses_and_the_text_lists_the_warnings_too() {
        let warnings = vec![finding("a", false), finding("b", false)];
        assert_eq!(TopicFindings::refuse_fatal(warnings.clone()), Ok(warnings));
        let refused = TopicFindings::refuse_fatal(vec![finding("a", false), finding("b", true)]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the topics are not as retry and dead letters need them:\n\
             warning: `a` is wrong\n  to mend it: mend it\n\
             error: `b` is wrong\n  to mend it: mend it"
        );
    }
}
