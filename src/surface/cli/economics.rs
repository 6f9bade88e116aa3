//! `heyaira context --economics`: what a session costs and whether a fresh one would be cheaper. Must never open a database,
//! and never print a word that a session said.

use std::path::{Path, PathBuf};

use crate::client::transcript::Environment;
use crate::config;
use crate::domain::text::quoted;
use crate::economics::Prices;
use crate::error::{Code, Refusal, Result};

/// The file of the user's own prices, in the folder of settings.
const OWN_PRICES: &str = "prices.toml";

/// The built-in prices with the user's laid over them: those of the file that is named, else of the folder of settings.
pub fn prices(named: Option<&Path>) -> Result<Prices> {
    let usual = || config::settings_folder().map(|folder| folder.join(OWN_PRICES)).filter(|path| path.exists());
    let Some(path) = named.map(Path::to_owned).or_else(usual) else {
        return Prices::built_in();
    };
    let name = quoted(&path.to_string_lossy(), 200);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Refusal::new(
            Code::InvalidArgument,
            format!("the prices in {name} cannot be read: {error}"),
            "Name a readable UTF-8 file with --prices, or move that one away.",
        )
    })?;
    Prices::built_in()?.with(&name, &text)
}

/// Where the transcripts of this machine are looked for, from a folder that is worked in.
pub fn environment(folder: PathBuf) -> Environment<'static> {
    Environment { folder, home: etcetera::home_dir().ok(), variable: &|name| std::env::var(name).ok() }
}
