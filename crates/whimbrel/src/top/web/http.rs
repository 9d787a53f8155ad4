// SPDX-License-Identifier: Apache-2.0
//! As much of HTTP as a page on this machine needs: one request per connection, small and in time.
//! What a peer sends is bounded, and how long it takes to send it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a whole request may take, and how long a peer may not read what it is sent.
const TIME: Duration = Duration::from_secs(5);
/// The longest request, without its body and with it.
const HEAD_MAX: usize = 8 << 10;
const BODY_MAX: usize = 4 << 10;
const HEADERS_MAX: usize = 64;

/// A request, as far as it matters.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `GET`, `POST` or another.
    pub method: String,
    /// What is asked for, without its parameters.
    pub path: String,
    /// The parameter `token`; empty if there is none.
    pub token: String,
    /// The server's name and port as the browser knows them.
    pub host: String,
    /// The page that asks, if the browser says so.
    pub origin: Option<String>,
    /// The content.
    pub body: Vec<u8>,
}

/// Why a request is not answered, as a browser is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u16, pub &'static str);

/// Not a request.
pub const BAD: Status = Status(400, "Bad Request");
/// The request did not come in time.
const SLOW: Status = Status(408, "Request Timeout");
/// Its content is too long.
const LONG_BODY: Status = Status(413, "Content Too Large");
/// The rest of it is too long.
const LONG_HEAD: Status = Status(431, "Request Header Fields Too Large");

/// Why there is no request.
#[derive(Debug)]
pub enum Error {
    /// The peer is to be told why.
    Refused(Status),
    /// The peer has gone.
    Gone(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Refused(SLOW),
            _ => Self::Gone(error),
        }
    }
}

/// Reads the request of a connection.
///
/// # Errors
/// It is none, too long or too slow, or the peer has gone.
pub fn read(stream: &TcpStream) -> Result<Asked, Error> {
    let deadline = Instant::now() + TIME;
    stream.set_write_timeout(Some(TIME)).map_err(Error::Gone)?;
    let mut bytes = Vec::new();
    let (mut asked, start, length) = loop {
        if let Some(head) = parse(&bytes).map_err(Error::Refused)? {
            break head;
        }
        if bytes.len() >= HEAD_MAX {
            return Err(Error::Refused(LONG_HEAD));
        }
        more(stream, deadline, &mut bytes)?;
    };
    while bytes.len() < start + length {
        more(stream, deadline, &mut bytes)?;
    }
    asked.body = bytes[start..start + length].to_vec();
    Ok(asked)
}

/// Reads a part of what is to come.
fn more(mut stream: &TcpStream, deadline: Instant, bytes: &mut Vec<u8>) -> Result<(), Error> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Error::Refused(SLOW));
    }
    stream.set_read_timeout(Some(left))?;
    let mut part = [0; 2048];
    match stream.read(&mut part)? {
        0 => Err(Error::Gone(io::ErrorKind::UnexpectedEof.into())),
        n => {
            bytes.extend_from_slice(&part[..n]);
            Ok(())
        }
    }
}

/// A request without its content, where that starts and how long it is; `None`: there is more to
/// come.
fn parse(bytes: &[u8]) -> Result<Option<(Asked, usize, usize)>, Status> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let start = match request.parse(bytes) {
        Ok(httparse::Status::Complete(start)) => start,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(LONG_HEAD),
        Err(_) => return Err(BAD),
    };
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let token = query.split('&').find_map(|one| one.strip_prefix("token="));
    let mut asked = Asked {
        method: request.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        token: token.unwrap_or_default().to_owned(),
        ..Asked::default()
    };
    let (mut hosts, mut length) = (0, None);
    for header in request.headers.iter() {
        let value = std::str::from_utf8(header.value).map_err(|_| BAD)?;
        match header.name.to_ascii_lowercase().as_str() {
            "host" => {
                value.clone_into(&mut asked.host);
                hosts += 1;
            }
            "origin" => asked.origin = Some(value.to_owned()),
            "content-length" if length.is_none() => {
                length = Some(value.parse::<usize>().map_err(|_| BAD)?);
            }
            "content-length" | "transfer-encoding" => return Err(BAD),
            _ => {}
        }
    }
    let length = length.unwrap_or(0);
    match (hosts, length <= BODY_MAX) {
        (1, true) => Ok(Some((asked, start, length))),
        (1, false) => Err(LONG_BODY),
        _ => Err(BAD),
    }
}

/// Begins an answer. What follows is the content, to the end of the connection.
///
/// # Errors
/// The peer has gone.
pub fn begin(
    mut stream: &TcpStream,
    Status(number, words): Status,
    kind: &str,
    policy: &str,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {number} {words}\r\n\
         Content-Type: {kind}\r\n\
         Content-Security-Policy: {policy}\r\n\
         Cache-Control: no-store\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_it_says() {
        let text = b"POST /ask?a=b&token=12 HTTP/1.1\r\nHost: h:1\r\nORIGIN: http://h:1\r\n\
                     content-length: 2\r\n\r\n{}";
        let (asked, start, length) = parse(text).unwrap().unwrap();
        assert_eq!((start, length), (text.len() - 2, 2));
        let expected = Asked {
            method: "POST".into(),
            path: "/ask".into(),
            token: "12".into(),
            host: "h:1".into(),
            origin: Some("http://h:1".into()),
            body: Vec::new(),
        };
        assert_eq!(asked, expected);
        assert_eq!(parse(&text[..40]), Ok(None));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_no_request() {
        for (headers, status) in [
            ("", BAD),
            ("Host: a\r\nHost: b\r\n", BAD),
            ("Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", BAD),
            ("Host: a\r\nContent-Length: -1\r\n", BAD),
            ("Host: a\r\nTransfer-Encoding: chunked\r\n", BAD),
            ("Host: a\r\nContent-Length: 4097\r\n", LONG_BODY),
            (&"Host: a\r\n".repeat(65), LONG_HEAD),
        ] {
            let text = format!("POST / HTTP/1.1\r\n{headers}\r\n");
            assert_eq!(parse(text.as_bytes()), Err(status), "{text}");
        }
        assert_eq!(parse(b"\x16\x03\x01\x02\x00"), Err(BAD));
    }
}
