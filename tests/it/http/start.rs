//! `heyaira start`: one command to a server with a token.

use serde_json::{Value, json};

use super::served::Served;
use crate::program::HEYAIRA;

struct Home(tempfile::TempDir);

impl Home {
    fn start(&self) -> std::process::Command {
        let folder = self.0.path().join("ledger");
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut command = std::process::Command::new(HEYAIRA);
        command.env_clear().env("HOME", self.0.path()).env("USER", "maria").current_dir(folder);
        command.args(["start", "--json"]);
        command
    }

    fn served(&self) -> Served {
        let mut command = self.start();
        command.args(["--listen", "127.0.0.1:0"]);
        Served::run(command)
    }

    fn other(&self, words: &[&str]) -> std::process::Output {
        let mut command = std::process::Command::new(HEYAIRA);
        command.env_clear().env("HOME", self.0.path()).current_dir(self.0.path()).args(words);
        command.output().expect("runs")
    }

    fn set_up(&self) -> (i32, Value) {
        let output = self.start().arg("--no-serve").output().expect("runs");
        let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"));
        (output.status.code().unwrap_or(-1), told)
    }
}

#[test]
fn it_serves_with_a_token_that_later_starts_reuse() {
    let home = Home(tempfile::tempdir().expect("a folder"));
    let mut served = home.served();
    let (_, told) = home.set_up();
    let file = told["token_file"].as_str().expect("a file");
    let token = std::fs::read_to_string(file).expect("a token");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(file).expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert!(!told.to_string().contains(token.trim()), "a token is never printed");
    let identity = served.client_with(token.trim()).api("server_identity", &json!({})).json();
    assert_eq!((&identity["caller"], &identity["role"]), (&json!("maria"), &json!("write")));
    assert_eq!(identity["project"], "ledger");
    assert_eq!(served.client().api("server_identity", &json!({})).status, 401);
    served.kill();
    let again = home.served();
    assert_eq!(std::fs::read_to_string(file).expect("a token"), token, "nothing is changed");
    assert_eq!(again.client_with(token.trim()).api("task_list", &json!({})).status, 200);
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_not_used_in_silence() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home(tempfile::tempdir().expect("a folder"));
    let (_, told) = home.set_up();
    let file = told["token_file"].as_str().expect("a file");
    assert!(file.ends_with("heyaira.db.token"), "beside its database, by its whole name: {file}");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    let (code, refused) = home.set_up();
    assert_eq!(code, 6, "{refused}");
    assert!(refused["error"]["next"].as_str().is_some_and(|next| next.contains("chmod 600")), "{refused}");
}

#[test]
fn a_token_that_was_revoked_is_not_made_anew_in_silence() {
    let home = Home(tempfile::tempdir().expect("a folder"));
    let (_, told) = home.set_up();
    assert!(home.other(&["token", "revoke", "maria"]).status.success());
    let (code, refused) = home.set_up();
    assert_eq!((code, &refused["error"]["code"]), (2, &json!("not_allowed")), "{refused}");
    std::fs::remove_file(told["token_file"].as_str().expect("a file")).expect("it is ours");
    let (code, told) = home.set_up();
    assert_eq!(code, 0, "{told}");
    let token = std::fs::read_to_string(told["token_file"].as_str().expect("a file")).expect("a token");
    let served = home.served();
    let identity = served.client_with(token.trim()).api("server_identity", &json!({})).json();
    assert_eq!(identity["caller"], "maria-2", "a name is given once");
}

/// One server serves all projects of its database, so the second start has nothing to serve.
#[test]
fn a_second_start_beside_a_running_one_sets_up_and_leaves_with_success() {
    let home = Home(tempfile::tempdir().expect("a folder"));
    let served = home.served();
    let mut second = home.start();
    second.args(["--project", "other", "--listen", &served.address]);
    let output = second.output().expect("runs");
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["url"], format!("http://{}/mcp/other", served.address));
    let token = std::fs::read_to_string(told["token_file"].as_str().expect("a file")).expect("a token");
    let mut client = served.client_with(token.trim());
    assert_eq!(client.post("/api/other/server_identity", &json!({})).json()["project"], "other");
    // A server of another database on that port is another server.
    let stranger = Home(tempfile::tempdir().expect("a folder"));
    let mut third = stranger.start();
    third.args(["--listen", &served.address]);
    assert_eq!(third.output().expect("runs").status.code(), Some(7));
}

#[test]
fn a_port_that_is_taken_is_told_with_the_mend() {
    let home = Home(tempfile::tempdir().expect("a folder"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = home.start().args(["--listen", &address]).output().expect("runs");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"));
    assert_eq!(told["error"]["code"], "unavailable", "{told}");
    assert!(told["error"]["next"].as_str().is_some_and(|next| next.contains("--listen")), "{told}");
}
