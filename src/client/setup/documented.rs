//! The files of clients that are set up from their documentation; none of them was run with it.

use crate::client::Client;
use crate::client::setup::place::Places;
use crate::client::setup::{Change, Request};

/// What is written for one of them: the entry of the server alone.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let stdio = request.server.entry();
    vec![match request.client {
        Client::Cursor => {
            let path = request.either(|places| places.home.join(".cursor").join("mcp.json"), &[".cursor", "mcp.json"]);
            request.json(path, "mcpServers", stdio)
        }
        Client::VsCode => {
            let path = request.either(Places::vscode, &[".vscode", "mcp.json"]);
            request.json(path, "servers", request.server.typed_entry("stdio"))
        }
        Client::Zed => {
            let path = request.either(|places| places.zed.join("settings.json"), &[".zed", "settings.json"]);
            request.json(path, "context_servers", stdio)
        }
        _ => request.json(request.places.claude_desktop(), "mcpServers", stdio),
    }]
}
