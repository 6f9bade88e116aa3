//! What a harness puts out is bounded on disk and in memory, however much it is.

use super::{Detached, Yard, wait_for};

/// The most memory that a process has had so far, in KiB.
fn peak(id: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// The memory of a watcher at its beginning and at its most.
fn measured(run: &Detached) -> (u64, u64) {
    let id = run.watcher();
    let first = wait_for("its memory", || peak(id));
    let mut most = first;
    wait_for("the report", || {
        most = most.max(peak(id).unwrap_or_default());
        run.report()
    });
    (first, most)
}

#[cfg(target_os = "linux")]
#[test]
fn a_gigabyte_of_output_takes_no_memory_and_little_disk() {
    let yard = Yard::new();
    let rows = [
        ("lines", "yes 'a line of some length that comes again and again' | head -c 1000000000; echo the end"),
        ("one line", "head -c 1000000000 /dev/zero | tr '\\0' y; echo the end"),
        ("errors", "(head -c 1000000000 /dev/zero; echo the end) >&2"),
    ];
    for (name, lines) in rows {
        let run = yard.detached(&["--log-limit", "1MiB", "--timeout", "110"], lines);
        let (first, most) = measured(&run);
        println!("{name}: {first} KiB at the beginning, {most} KiB at most");
        assert!(most < first + 64 * 1024, "{name}: {first} KiB became {most} KiB");
        let report = run.ended();
        assert_eq!(report["outcome"], "no_work", "{report}");
        let bytes = report["log"]["bytes"].as_i64().expect("bytes");
        assert!((1_000_000_000..1_000_000_100).contains(&bytes), "{report}");
        let log = std::fs::read(run.folder.join("output.log")).expect("a log");
        assert!(log.len() <= 1024 * 1024 + 100, "{}", log.len());
        assert!(log.ends_with(b"the end\n"), "the end is kept");
        let left_out = report["log"]["left_out"].as_i64().expect("bytes");
        let line = format!("[heyaira: {left_out} bytes are left out here]");
        assert!(log.windows(line.len()).any(|window| window == line.as_bytes()), "{line} is not in it");
        assert_eq!(std::fs::read_dir(&run.folder).expect("a folder").flatten().filter(is_log).count(), 1);
    }
}

fn is_log(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with("output.log")
}
