//! Lines: bad, long, endless, many; and how a connection ends.

use std::time::Duration;

use heyaira::surface::mcp::transport::LINE_MAX;
use heyaira::surface::mcp::transport::lines::{Lines, Read};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::home::{Gate, Home};
use super::wire::Wire;

#[tokio::test]
async fn bad_lines_are_answered_and_the_connection_lives_on() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let cases: [(&[u8], i64, Value); 14] = [
        (b"\xFF\xFE", -32700, json!(null)),
        (b"no JSON", -32700, json!(null)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"pi", -32700, json!(null)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xFF\"}", -32700, json!(null)),
        (b"[]", -32600, json!(null)),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", -32600, json!(null)),
        (b"7", -32600, json!(null)),
        (b"{}", -32600, json!(null)),
        (b"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", -32600, json!(7)),
        (b"{\"id\":\"seven\",\"method\":\"ping\"}", -32600, json!("seven")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, json!(null)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, json!(null)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":7}", -32600, json!(7)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7}", -32600, json!(7)),
    ];
    for (line, code, id) in cases {
        wire.send_bytes(line).await;
        wire.send_bytes(b"\n").await;
        let answer = wire.message().await;
        let shown = String::from_utf8_lossy(line);
        assert_eq!(answer["error"]["code"], json!(code), "{shown}: {answer}");
        assert_eq!(answer.get("id"), Some(&id), "{shown}: {answer}");
        assert_eq!(answer["jsonrpc"], json!("2.0"));
        assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(0));
    }
}

#[tokio::test]
async fn half_of_a_surrogate_pair_is_answered_with_its_id_and_stores_nothing() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    for half in ["half \\ud83d pair", "\\ude00", "\\ud83d\\ud83d", "end \\ud83d"] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"task_create","arguments":{{"title":"{half}","summary":"x","write_context":"{}"}}}}}}"#,
            home.write_context
        );
        wire.send(&line).await;
        let answer = wire.message().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("surrogate"), "{answer}");
    }
    assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(0));
}

#[tokio::test]
async fn whole_pairs_blank_lines_carriage_returns_and_a_byte_order_mark_do_no_harm() {
    let home = Home::new().await;
    let mut wire = Wire::new(home.handler());
    wire.send_bytes(b"\xEF\xBB\xBF").await;
    wire.initialize("2025-06-18", &json!({"name": "x", "version": "1"})).await;
    wire.send_bytes(b"\n\r\n   \n").await;
    let context = &home.write_context;
    wire.send(&format!(
        r#"  {{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"tools/call","params":{{"name":"task_create","arguments":{{"title":"\ud83d\ude00","summary":"\u65e5","write_context":"{context}"}}}}}}{}"#,
        '\r'
    ))
    .await;
    let answer = wire.message().await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("😀"), &json!(false)), "{answer}");
    let list = wire.answer("task_list", json!({})).await;
    assert_eq!((&list["tasks"][0]["title"], &list["tasks"][0]["summary"]), (&json!("😀"), &json!("日")), "{list}");
}

#[tokio::test]
async fn answers_and_unknown_notifications_want_no_answer() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":"x"}"#,
        r#"{"id":7,"result":"\ud83d"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard/of","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
    ] {
        wire.send(line).await;
    }
    wire.answer("task_list", json!({})).await;
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_largest_request_works_also_with_every_character_escaped() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let context = &home.write_context;
    // Characters of three bytes as ASCII JSON writers send them: six bytes each.
    let text = "\\u65e5".repeat(100_000);
    let fields = ["description", "completion_criteria", "required_reviews"];
    let fields: Vec<String> = fields.iter().map(|field| format!(r#""{field}":"{text}""#)).collect();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"task_create","arguments":{{"title":"Long","summary":"x","write_context":"{context}",{}}}}}}}"#,
        fields.join(",")
    );
    assert!(line.len() > 1_800_000 && line.len() < LINE_MAX);
    wire.send(&line).await;
    let answer = wire.message().await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)), "{answer}");
    let arguments = json!({"title": "x".repeat(1_200_000), "summary": "x", "write_context": context});
    let refusal = wire.refusal("task_create", arguments).await;
    assert!(refusal.starts_with("too_large: "), "{refusal}");
}

#[tokio::test]
async fn a_line_over_the_limit_is_answered_once_and_skipped() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let mut long = vec![b'x'; LINE_MAX + 1];
    long.push(b'\n');
    for _ in 0..3 {
        wire.send_bytes(&long).await;
        let answer = wire.message().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)), "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("4,194,304 bytes"), "{message}");
        assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(0));
    }
    // A line of exactly the limit is read: here it is no JSON.
    let mut full = vec![b' '; LINE_MAX - 2];
    full.extend(b"x\n");
    wire.send_bytes(&full).await;
    assert_eq!(wire.message().await["error"]["code"], json!(-32700));
}

#[tokio::test]
async fn an_endless_line_is_answered_while_it_comes_and_takes_no_memory() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..8 {
        wire.send_bytes(&chunk).await;
    }
    let answer = wire.message().await;
    assert_eq!(answer["error"]["code"], json!(-32600));
    let before = resident();
    for _ in 0..192 {
        wire.send_bytes(&chunk).await;
    }
    let grown = resident().saturating_sub(before);
    // Other tests run meanwhile, so this is no sharp bound; the next test has that.
    assert!(grown < 100 * 1024 * 1024, "grown by {grown}");
    wire.send_bytes(b"\n").await;
    assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(0));
    assert_eq!(wire.finish().await, Vec::<Value>::new());
}

/// The memory that this process has, in bytes; 0 where that cannot be known.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0)
        * 1024
}

#[tokio::test]
async fn lines_hold_no_more_than_the_limit_and_lose_nothing_when_dropped() {
    let (mut to, from) = tokio::io::duplex(16);
    let writer = tokio::spawn(async move {
        for part in [&b"one\n"[..], b"tw", b"o\n", &[b'x'; 500], b"\n\n", &[b'y'; 31], b"\nlast"] {
            to.write_all(part).await.expect("an open pipe");
            tokio::task::yield_now().await;
        }
    });
    let mut lines = Lines::new(from, 32);
    let mut seen = Vec::new();
    loop {
        // Dropped at every wait, as the library does.
        let read = loop {
            tokio::select! {
                biased;
                read = lines.next() => break read,
                () = tokio::task::yield_now() => {}
            }
        };
        assert!(lines.line().len() <= 32);
        match read {
            Read::Line => seen.push(String::from_utf8(lines.line().to_vec()).expect("text")),
            Read::TooLong => seen.push("too long".to_owned()),
            Read::End => break,
        }
    }
    writer.await.expect("no panic");
    let full = format!("{}\n", "y".repeat(31));
    assert_eq!(seen, ["one\n", "two\n", "too long", "\n", &full, "last"]);
}

#[tokio::test]
async fn a_last_line_without_an_end_is_answered() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let (id, line) = wire.request("tools/call", json!({"name": "task_list", "arguments": {}}));
    wire.send_bytes(line.as_bytes()).await;
    let answers = wire.finish().await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], json!(id));
}

#[tokio::test]
async fn five_hundred_calls_at_once_are_all_answered_after_the_end_of_input() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let context = home.write_context.clone();
    let mut lines = String::new();
    for number in 0..500 {
        let call = if number % 5 == 0 {
            let task = json!({"write_context": context, "title": format!("Task {number}"), "summary": "New."});
            json!({"name": "task_create", "arguments": task})
        } else {
            json!({"name": "server_identity", "arguments": {}})
        };
        lines.push_str(&wire.request("tools/call", call).1);
        lines.push('\n');
    }
    // The client writes all of it before it is done, and meanwhile reads: nobody may wait for the other for ever.
    let (mut sender, mut receiver) = wire.halves();
    let sending = tokio::spawn(async move {
        sender.write_all(lines.as_bytes()).await.expect("an open pipe");
        sender.shutdown().await.expect("an open pipe");
    });
    let mut answers = Vec::new();
    while let Some(answer) = receiver.next().await {
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        answers.push(answer["id"].as_i64().expect("an id"));
    }
    sending.await.expect("no panic");
    answers.sort_unstable();
    answers.dedup();
    assert_eq!(answers.len(), 500);
    let mut wire = Wire::legacy(home.handler()).await;
    assert_eq!(wire.answer("task_list", json!({})).await["total"], json!(100));
}

#[tokio::test]
async fn no_more_than_32_calls_are_worked_on_at_once() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    for _ in 0..100 {
        let (_, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
        wire.send(&line).await;
    }
    gate.holds(32).await;
    gate.open();
    assert_eq!(wire.finish().await.len(), 100);
    assert_eq!(gate.most(), 32);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from_for_ever() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    // The clock stands still: a wait is over as soon as nobody has anything to do.
    tokio::time::pause();
    let mut sent = 0_i64;
    loop {
        let line = format!("{}{}", wire.request("tools/list", json!({})).1, " ".repeat(8_000));
        if tokio::time::timeout(Duration::from_secs(1), wire.send(&line)).await.is_err() {
            break;
        }
        sent += 1;
        assert!(sent < 400, "read {sent} requests of a client that reads no answer");
    }
    // What was sent before the full pipe is answered once the client reads.
    for _ in 0..sent {
        assert!(wire.message().await["result"]["tools"].is_array());
    }
    wire.hang_up().await;
}

#[tokio::test]
async fn two_calls_with_one_id_are_both_answered() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let first = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "gate_pass", "arguments": {"gate": number}}});
    let second = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "echo"}});
    wire.send(&first.to_string()).await;
    gate.holds(1).await;
    wire.send(&second.to_string()).await;
    gate.open();
    let answers = wire.finish().await;
    assert_eq!(answers.len(), 2);
    assert!(answers[0]["result"]["content"][0]["text"].as_str().expect("a text").contains("passed"));
    assert!(answers[1]["result"]["content"][0]["text"].as_str().expect("a text").contains("harness"));
}

#[tokio::test]
async fn calls_in_flight_are_answered_after_the_end_of_input() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let (id, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
    wire.send(&line).await;
    gate.holds(1).await;
    wire.close_input().await;
    wire.end.begun().await;
    gate.open();
    let answers = wire.rest().await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], json!(id));
}

#[tokio::test]
async fn calls_in_flight_are_answered_after_a_signal_and_no_more_are_read() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let (id, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
    wire.send(&line).await;
    gate.holds(1).await;
    // What a signal does.
    wire.end.begin();
    gate.open();
    let answers = wire.rest().await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], json!(id));
}

#[tokio::test]
async fn a_call_that_hangs_holds_up_the_end_for_less_than_two_seconds() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let (_, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
    wire.send(&line).await;
    gate.holds(1).await;
    let begun = std::time::Instant::now();
    assert_eq!(wire.finish().await, Vec::<Value>::new());
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    gate.open();
}

#[tokio::test]
async fn a_closed_output_ends_the_server_at_the_next_write() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let line = wire.request("tools/list", json!({})).1;
    let (mut sender, served) = wire.deaf();
    sender.write_all(line.as_bytes()).await.expect("an open pipe");
    sender.write_all(b"\n").await.expect("an open pipe");
    tokio::time::timeout(Duration::from_mins(1), served).await.expect("a server that leaves").expect("no panic");
}
