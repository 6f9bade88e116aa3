//! Where each client keeps what it reads and writes, on Linux, macOS and Windows: a pure function of the platform, the home folder
//! and the environment. Must never look at the disk.

use std::path::{Path, PathBuf};

/// The platforms whose folders are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and the other Unixes.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one that this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The folders of one person on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The platform.
    pub platform: Platform,
    /// The home folder.
    pub home: PathBuf,
    /// Claude Code's folder, and the file beside or in it that holds its servers.
    pub claude: PathBuf,
    /// That file.
    pub claude_state: PathBuf,
    /// Codex's folder.
    pub codex: PathBuf,
    /// Gemini CLI's folder.
    pub gemini: PathBuf,
    /// `OpenCode`'s folder of settings.
    pub opencode: PathBuf,
    /// `OpenCode`'s folder of sessions.
    pub opencode_data: PathBuf,
    /// Copilot CLI's folder.
    pub copilot: PathBuf,
    /// Where programs with windows keep their settings.
    pub settings: PathBuf,
    /// Zed's folder.
    pub zed: PathBuf,
    /// Goose's folder.
    pub goose: PathBuf,
}

impl Places {
    /// Those of the person who runs this program; none without a home folder.
    pub fn here() -> Option<Self> {
        let home = etcetera::home_dir().ok()?;
        Some(Self::new(Platform::HERE, &home, |name| std::env::var(name).ok()))
    }

    /// The folders of the person with that home; `variable` reads the environment.
    pub fn new(platform: Platform, home: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let below = |words: &[&str]| words.iter().fold(home.to_owned(), |path, word| path.join(word));
        // The specification of these folders has a relative path ignored.
        let whole = |name: &str| set(name).filter(|path| path.is_absolute());
        let config = whole("XDG_CONFIG_HOME").unwrap_or_else(|| below(&[".config"]));
        let data = whole("XDG_DATA_HOME").unwrap_or_else(|| below(&[".local", "share"]));
        let roaming = || set("APPDATA").unwrap_or_else(|| below(&["AppData", "Roaming"]));
        let settings = match platform {
            Platform::Linux => config.clone(),
            Platform::Mac => below(&["Library", "Application Support"]),
            Platform::Windows => roaming(),
        };
        let (zed, goose) = match platform {
            Platform::Windows => (settings.join("Zed"), settings.join("Block").join("goose").join("config")),
            Platform::Mac => (below(&[".config", "zed"]), below(&[".config", "goose"])),
            Platform::Linux => (config.join("zed"), config.join("goose")),
        };
        let claude = set("CLAUDE_CONFIG_DIR");
        Self {
            platform,
            home: home.to_owned(),
            claude_state: claude
                .as_ref()
                .map_or_else(|| below(&[".claude.json"]), |folder| folder.join(".claude.json")),
            claude: claude.unwrap_or_else(|| below(&[".claude"])),
            codex: set("CODEX_HOME").unwrap_or_else(|| below(&[".codex"])),
            gemini: set("GEMINI_CLI_HOME").map_or_else(|| below(&[".gemini"]), |folder| folder.join(".gemini")),
            opencode: config.join("opencode"),
            opencode_data: data.join("opencode"),
            copilot: set("COPILOT_HOME").unwrap_or_else(|| below(&[".copilot"])),
            settings,
            zed,
            goose,
        }
    }

    /// The skills that every client but Claude Code reads.
    pub fn skills(&self) -> PathBuf {
        self.home.join(".agents").join("skills")
    }

    /// Claude Desktop's folder.
    pub fn claude_desktop(&self) -> PathBuf {
        self.settings.join("Claude")
    }

    /// Claude Desktop's file of servers.
    pub fn claude_desktop_servers(&self) -> PathBuf {
        self.claude_desktop().join("claude_desktop_config.json")
    }

    /// VS Code's file of servers for a person.
    pub fn vscode(&self) -> PathBuf {
        self.settings.join("Code").join("User").join("mcp.json")
    }
}
