//! The log of an output, and its lines.

use heyaira::run::log::{BoundedLog, close_left};
use heyaira::run::output::{LINE_MAX, Lines};

#[test]
fn beginning_and_end_are_kept_and_what_is_between_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    for (limit, total) in [(1024_u64, 0_u64), (1024, 700), (1024, 1024), (1024, 1300), (1024, 100_000), (1027, 5_000)] {
        let path = folder.path().join(format!("{limit}-{total}.log"));
        let mut log = BoundedLog::new(path.clone(), limit);
        let all: Vec<u8> = (0..total).map(|place| b'a' + u8::try_from(place % 23).expect("small")).collect();
        all.chunks(37).for_each(|piece| log.write(piece));
        let (told, problems) = log.close();
        assert_eq!(problems, [""; 0]);
        let (bytes, left_out) =
            (u64::try_from(told.bytes).expect("bytes"), u64::try_from(told.left_out).expect("bytes"));
        assert_eq!(bytes, total);
        let kept = std::fs::read(&path).expect("a log");
        let mark =
            if left_out > 0 { format!("\n[heyaira: {left_out} bytes are left out here]\n") } else { String::new() };
        assert_eq!(kept.len() as u64, total - left_out + mark.len() as u64);
        assert!(total - left_out <= limit);
        assert!(total < limit || total - left_out >= limit * 3 / 4 - 1, "{limit} of {total}: {left_out} are left out");
        let text = String::from_utf8(kept).expect("letters");
        let (head, tail) =
            if mark.is_empty() { (text.as_str(), "") } else { text.split_once(&mark).expect("it is said") };
        assert!(all.starts_with(head.as_bytes()) && all.ends_with(tail.as_bytes()), "{limit} of {total}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 6, "no piece is left");
}

#[test]
fn a_log_that_nobody_closed_can_be_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("output.log");
    let mut log = BoundedLog::new(path.clone(), 1024);
    log.write(&[b'x'; 10_000]);
    log.write(b"the end\n");
    drop(log);
    let (told, problems) = close_left(&path);
    assert_eq!(problems, [""; 0]);
    assert_eq!(told.bytes, 10_008);
    assert!(told.left_out > 8_900, "{told:?}");
    let text = std::fs::read_to_string(&path).expect("a log");
    assert!(text.ends_with("the end\n") && text.contains(&format!("{} bytes are left out", told.left_out)), "{text}");
}

#[test]
fn a_log_that_cannot_be_written_stops_nobody_and_says_so() {
    let mut log = BoundedLog::new("/dev/full".into(), 1024);
    log.write(&[b'x'; 5_000]);
    let (told, problems) = log.close();
    assert_eq!((told.bytes, told.left_out), (5_000, 5_000));
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn lines_come_whole_and_of_one_that_is_too_long_its_beginning() {
    let mut found: Vec<Vec<u8>> = Vec::new();
    let mut listener = |line: &[u8]| found.push(line.to_vec());
    let mut lines = Lines::default();
    for piece in [&b"one\ntw"[..], b"o\r\n\n", b"", b"three"] {
        lines.take(piece, &mut listener);
    }
    lines.take(b"\n", &mut listener);
    for _ in 0..5 {
        lines.take(&vec![b'y'; 1024 * 1024], &mut listener);
    }
    lines.take(b"\nlast", &mut listener);
    lines.end(&mut listener);
    let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 3, 5, LINE_MAX, 4]);
}

#[test]
fn a_log_that_is_taken_away_or_replaced_is_whole_at_its_end_and_nothing_else_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("output.log"), folder.path().join("other"));
    for place in 0..3 {
        std::fs::write(&other, "mine").expect("a file");
        let mut log = BoundedLog::new(path.clone(), 1024);
        log.write(&[b'x'; 10_000]);
        let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let names = entries.map(|entry| entry.path()).filter(|name| *name != other);
        for name in names {
            std::fs::remove_file(&name).expect("it is there");
            match place {
                0 => {}
                1 => std::os::unix::fs::symlink(&other, &name).expect("a link"),
                _ => std::fs::hard_link(&other, &name).expect("a name"),
            }
        }
        log.write(b"the end\n");
        let (told, problems) = log.close();
        assert_eq!(told.bytes, 10_008);
        assert!(problems.len() == 1 && problems[0].contains("was taken away or replaced"), "{problems:?}");
        let text = std::fs::read_to_string(&path).expect("a log");
        assert!(text.starts_with("xxx") && text.ends_with("the end\n"), "{text}");
        assert_eq!(std::fs::read_to_string(&other).expect("the other"), "mine");
    }
}

#[test]
fn a_log_that_nobody_closed_is_not_put_through_a_link_or_a_second_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("output.log"), folder.path().join("other"));
    for is_link in [true, false] {
        std::fs::write(&other, "mine").expect("a file");
        let mut log = BoundedLog::new(path.clone(), 1024);
        log.write(&[b'x'; 10_000]);
        drop(log);
        std::fs::remove_file(&path).expect("it is there");
        if is_link {
            std::os::unix::fs::symlink(&other, &path).expect("a link");
        } else {
            std::fs::hard_link(&other, &path).expect("a name");
        }
        close_left(&path);
        assert_eq!(std::fs::read_to_string(&other).expect("the other"), "mine");
        assert!(path.symlink_metadata().is_ok_and(|found| found.is_file()));
    }
}
