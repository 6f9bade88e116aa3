//! The files of clients that are set up from their documentation; none of them was run with it.

use serde_json::json;

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::edit::Edit;
use crate::client::setup::server::{NAME, Server};
use crate::client::setup::{Change, Part, Request};

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
        Client::Goose => request.change(Part::Server, request.places.goose.join("config.yaml"), goose(request.server)),
        _ => request.json(request.places.claude_desktop_servers(), "mcpServers", stdio),
    }]
}

/// Goose's entry; it wants the time in seconds that a call may take.
fn goose(server: &Server) -> Edit {
    let entry = json!({
        "name": NAME, "enabled": true, "type": "stdio", "cmd": server.program, "args": server.words(), "timeout": 60,
    });
    Edit::Yaml { list: "extensions".to_owned(), name: NAME.to_owned(), entry }
}
