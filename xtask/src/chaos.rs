//! `cargo xtask chaos`: the program of the package `chaos`, on brokers that it has killed and started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;

use crate::cargo::{cargo, program};
use crate::kafka::Cluster;
use crate::process::{self, run_ok};
use crate::{paths, tools};

/// What the program takes, and how many brokers.
struct Wanted<'a> {
    brokers: usize,
    words: Vec<&'a str>,
}

/// Starts brokers and runs it with the given words.
///
/// # Errors
/// If a promise was broken, a word has no meaning, or the brokers do not come up.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let wanted = parse(words)?;
    tools::c_libraries()?;
    // The whole workspace is named as for the tests, or librdkafka would be compiled again.
    run_ok(&mut cargo("build --quiet --workspace --bin babelqueue-chaos"))?;
    let folder = paths::target("chaos");
    eprintln!("Starting {} Apache Kafka brokers", wanted.brokers);
    let mut cluster = Cluster::launch(&folder, wanted.brokers)?;
    let mut command = Command::new(program("babelqueue-chaos"));
    command.args(["--brokers", cluster.brokers(), "--ledger"]).arg(folder.join("ledger")).args(&wanted.words);
    let child = process::spawn_in_conversation(&mut command)?;
    let group = process::raw_pid(&child);
    let ended = process::supervise(child, |child| {
        let served = serve(child, &mut cluster);
        Ok((served, child.wait()?))
    });
    // A member may be suspended, or be about to end in its own time.
    process::signal_group(group, Signal::KILL);
    let (served, status) = ended?;
    served?;
    ensure!(status.success(), "`cargo xtask chaos` has found a fault, or could not go on");
    Ok(())
}

fn parse<'a>(words: &[&'a str]) -> Result<Wanted<'a>> {
    let mut wanted = Wanted { brokers: 3, words: Vec::new() };
    for pair in words.chunks(2) {
        match pair {
            ["--brokers", "1"] => wanted.brokers = 1,
            ["--brokers", "3"] => wanted.brokers = 3,
            ["--records" | "--seed" | "--order", _] => wanted.words.extend(pair),
            _ => bail!("chaos: `{}` means nothing here", pair.join(" ")),
        }
    }
    Ok(wanted)
}

/// Does with the brokers what the program asks for, a line each, until it ends.
fn serve(child: &mut Child, cluster: &mut Cluster) -> Result<()> {
    let asked = child.stdout.take().context("no standard output")?;
    let mut answers = child.stdin.take().context("no standard input")?;
    for line in BufReader::new(asked).lines() {
        let line = line?;
        let (word, node) = line.split_once(' ').with_context(|| format!("what is {line:?}?"))?;
        let node = node.parse()?;
        match word {
            "kill" => cluster.end(node, Signal::KILL)?,
            "stop" => cluster.end(node, Signal::TERM)?,
            "start" => cluster.start(node)?,
            _ => bail!("what is {line:?}?"),
        }
        // It may have ended meanwhile: its status says why.
        let _ = answers.write_all(b"done\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_number_of_brokers_is_for_us_and_the_rest_for_the_program() {
        let wanted = parse(&["--records", "5", "--brokers", "1", "--seed", "7"]).unwrap();
        assert_eq!((wanted.brokers, wanted.words), (1, vec!["--records", "5", "--seed", "7"]));
        assert_eq!(parse(&[]).unwrap().brokers, 3);
    }

    #[test]
    fn a_word_without_a_meaning_is_refused() {
        for words in [&["--brokers", "2"][..], &["--seed"], &["fast", "please"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
