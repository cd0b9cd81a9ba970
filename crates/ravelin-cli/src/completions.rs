//! `ravelin completions` and `ravelin man`: what shells and readers are told is generated from the definitions of the commands, so it
//! cannot say anything else than the program does.

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::files;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use ravelin_output::stdout;
use std::path::PathBuf;

const COMPLETIONS_HELP: &str = "\
bash: ravelin completions bash > ~/.local/share/bash-completion/completions/ravelin
zsh:  ravelin completions zsh > ~/.zfunc/_ravelin   (a directory in $fpath)
fish: ravelin completions fish > ~/.config/fish/completions/ravelin.fish";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct Manual {
    /// The command, such as `check` [default: ravelin itself]
    #[arg(conflicts_with = "out")]
    pub command: Option<String>,
    /// Write ravelin.1 and one page per command to this directory, instead of printing one page
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub fn completions(arguments: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "ravelin", &mut script);
    stdout().program(&String::from_utf8(script)?)?;
    Ok(Exit::Holds)
}

pub fn manual(arguments: &Manual) -> anyhow::Result<Exit> {
    let pages = pages();
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for (name, page) in pages {
            let path = folder.join(format!("{name}.1"));
            files::write(&path, rendered(page)?)?;
        }
        return Ok(Exit::Holds);
    }
    let wanted = arguments.command.as_ref().map_or("ravelin".to_owned(), |command| format!("ravelin-{command}"));
    let Some((_, page)) = pages.into_iter().find(|(name, _)| *name == wanted) else {
        anyhow::bail!("there is no command `{}`", arguments.command.as_deref().unwrap_or_default());
    };
    stdout().program(&String::from_utf8(rendered(page)?)?)?;
    Ok(Exit::Holds)
}

/// The program itself, which names the others, and each of its commands, under the names of their pages.
fn pages() -> Vec<(String, clap::Command)> {
    let mut whole = Arguments::command();
    whole.build();
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    let page = |command: &clap::Command| {
        (format!("ravelin-{}", command.get_name()), command.clone().version(env!("CARGO_PKG_VERSION")))
    };
    let mut pages: Vec<(String, clap::Command)> = commands.map(page).collect();
    pages.insert(0, ("ravelin".to_owned(), whole));
    pages
}

fn rendered(page: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(page).manual("Ravelin").render(&mut text)?;
    Ok(text)
}
