//! The URL of a database: all that is wrong with it is told, and never the password.

use heyaira::store::backend::Database;

/// What is said of a URL that is refused.
fn refused(url: &str) -> String {
    match Database::of(url) {
        Err(refusal) => refusal.to_string(),
        Ok(database) => panic!("{url} was taken as {database}"),
    }
}

#[test]
fn everything_wrong_with_a_url_is_told_at_once() {
    let told = refused(
        "postgres://maria:sesame@one:x,two words,[::1]:0/db?sslmode=allow&colour=red&keepalives=2&connect_timeout=0\
         &target_session_attrs=read-only&tcp_user_timeout=soon&loose",
    );
    for part in [
        "the port of host 1 is no number",
        "host 2 is no name of a host",
        "the port of host 3 is no number",
        "sslmode is one of disable, prefer, require, verify-ca, verify-full",
        "setting 2 is none that is known here: sslmode,",
        "keepalives is a number from 0 to 1",
        "connect_timeout is a number from 1 to 3600",
        "target_session_attrs is one of read-write, any",
        "tcp_user_timeout is a number",
        "setting 7 has no =",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("sesame") && !told.contains("red") && !told.contains("colour"), "{told}");
}

#[test]
fn no_piece_of_a_password_is_told_however_it_was_written() {
    let urls = [
        "postgres://maria:ses@ame@host/db",
        "postgres://maria:ses/ame@host/db",
        "postgres://maria:ses?ame=1@host/db",
        "postgres://maria:ses#ame@host:x/db",
        "postgres://maria:sesame@/db",
        "postgres://maria:sesame@host/db?password=sesame&port=sesame",
        "postgres://maria:sesame@host/db?sslmode=sesame",
        "postgres://maria:sesame",
        "postgresql://maria:sesame@host/db?sslmode=verify-ca",
    ];
    for url in urls {
        let told = refused(url);
        assert!(!told.contains("ses") && !told.contains("ame@"), "{url}: {told}");
    }
    for url in
        ["postgres://maria@host/db?password=a&jaw=b", "postgres://maria@host/db?jaw=%FF", "postgres://maria:a?jaw=b"]
    {
        let told = refused(url);
        assert!(told.contains(" is none that is known here: sslmode,") && !told.contains("jaw"), "{url}: {told}");
    }
}

#[test]
fn a_database_is_shown_without_its_password() {
    for (url, shown) in [
        ("postgres://maria:sesame@one:1,two/db?sslmode=require", "postgres://maria@one:1,two:5432/db"),
        ("postgresql://maria:s%40e%2Fs@[::1]/db", "postgres://maria@[::1]:5432/db"),
        ("postgres:///db?host=/run/postgresql&user=maria&password=sesame", "postgres://maria@/run/postgresql:5432/db"),
        ("postgres://maria@one,two/db?port=7", "postgres://maria@one:7,two:7/db"),
        ("postgres://%2Frun%2Fpostgresql/db", "postgres:///run/postgresql:5432/db"),
    ] {
        let database = Database::of(url).expect("an address");
        assert_eq!(database.to_string(), shown);
        assert!(!format!("{database:?}").contains("sesame"), "{database:?}");
    }
}

#[test]
fn a_mistyped_address_is_no_file_and_is_not_quoted() {
    for text in [
        "POSTGRES://maria:sesame@host/db",
        " postgres://maria:sesame@host/db",
        "\"postgres://maria:sesame@host/db\"",
        "postgres:/maria:sesame@host/db",
        "postgres:maria:sesame@host/db",
        "postgres//maria:sesame@host/db",
        "postgresql+psycopg://maria:sesame@host/db",
        "jdbc:postgresql://host/db?user=maria&password=sesame",
        "host=host user=maria password=sesame dbname=db",
        "dbname=db password='ses/ame' host=/run/postgresql",
        "mysql://maria:sesame@host/db",
    ] {
        let told = refused(text);
        assert!(told.contains("does not begin with postgres://") && !told.contains("ses"), "{text}: {told}");
    }
    for file in ["heyaira.db", "postgres/heyaira.db", "./a://b", "/data/host=one/heyaira.db", "C:/data/heyaira.db", ""]
    {
        assert_eq!(Database::of(file).expect("a file").file(), Some(std::path::Path::new(file)));
    }
}
