// SPDX-License-Identifier: Apache-2.0
//! `whimbrel top --web`: the view as a page of a browser on this machine.
//!
//! The run is watched once. What it says goes to each browser as a server-sent event, by a queue of
//! limited length and a thread: a browser that lets its queue run full is disconnected, and begins
//! anew. What a browser wants goes the way of the keys of the view on a terminal.

mod http;

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::Deserialize;
use serde_json::json;
use whimbrel_model::{POLICIES, Problem};
use whimbrel_run::control::{Request, Watch};
use whimbrel_run::failure::{Answer, Outcome, say};
use whimbrel_run::output::print;
use whimbrel_run::rundir::FoundRun;

use super::model::{Effect, Link, Model};
use super::{Input, fold, link, terminal};
use http::{Asked, Status};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("view.css");
const SCRIPTS: [&str; 2] = [include_str!("parts.js"), include_str!("view.js")];

/// So many connections are served at a time, and so many of them watch.
const CONNECTIONS: usize = 32;
const VIEWERS: usize = 8;
/// How many events may wait for a browser.
const QUEUE: usize = 1024;
/// How many events of the past a browser is told.
const PAST: usize = 200;
/// What the system may keep of them for a browser that does not read.
const SEND_BUFFER: usize = 256 << 10;
/// Events that come within this time after others are sent together.
const GAP: Duration = Duration::from_millis(20);
/// How long the last words may take to reach every browser.
const FAREWELL: Duration = Duration::from_secs(2);
/// As long nothing is accepted after an error.
const BACK_OFF: Duration = Duration::from_millis(50);

const OK: Status = Status(200, "OK");
const UNAUTHORIZED: Status = Status(401, "Unauthorized");
const FORBIDDEN: Status = Status(403, "Forbidden");
const NOT_FOUND: Status = Status(404, "Not Found");
const NOT_ALLOWED: Status = Status(405, "Method Not Allowed");
const BUSY: Status = Status(503, "Service Unavailable");

/// What a browser asks for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Wish {
    /// The task at this position of the totals on another core.
    Move {
        task: usize,
        core: u32,
    },
    /// A policy, as `whimbrel policy` is told.
    Policy(String),
    /// Frames per second.
    Rate(String),
    /// A tenth more frames, or what a tenth more was made of.
    Faster,
    Slower,
    /// `CHANNEL KEY=VALUE`
    Channel(String),
    /// The kernel of a core again.
    Restart(u32),
}

/// What all threads share.
struct Hub {
    run: FoundRun,
    /// Whoever names it may see and steer.
    token: String,
    /// The scripts and styles of the page are known by it, and no others run there.
    nonce: String,
    connections: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    model: Model,
    viewers: Vec<SyncSender<Arc<str>>>,
    /// One for each thread that writes to a browser, and this one.
    writes: Option<Sender<()>>,
}

/// Serves the view until the run or the command is ended.
///
/// # Errors
/// The port is taken, or the system refuses.
pub fn serve(run: FoundRun, watch: Watch, model: Model, port: u16) -> Outcome {
    let (sender, inputs) = mpsc::channel();
    terminal::signals(&sender)
        .map_err(|error| Problem::new(format!("signals cannot be taken: {error}")))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        Problem::new(format!("port {port} of 127.0.0.1 is not available: {error}"))
            .help("name another port, or omit `--port`: a free one is found then")
    })?;
    let failed = |error| Problem::new(format!("the view cannot be served: {error}"));
    let port = listener.local_addr().map_err(failed)?.port();
    let (token, nonce) = (random().map_err(failed)?, random().map_err(failed)?);
    let (writes, written) = mpsc::channel();
    let state = Mutex::new(State { model, viewers: Vec::new(), writes: Some(writes) });
    let connections = AtomicUsize::new(0);
    let hub = Arc::new(Hub { run, token, nonce, connections, state });

    print(&format!("http://127.0.0.1:{port}/?token={}\n", hub.token))?;
    say("Open this address in a browser. Ctrl-C ends the view; the run continues.");
    link::listen(hub.run.name.clone(), watch, sender);
    let accepting = Arc::clone(&hub);
    thread::spawn(move || accept(&accepting, &listener));
    let how = follow(&hub, &inputs);
    // All have what was said last, or do not read it.
    let _: Result<(), RecvTimeoutError> = written.recv_timeout(FAREWELL);
    print(&format!("{}: {how}\n", hub.run.name))?;
    Ok(Answer::Yes)
}

/// Tells the browsers what the run says, to its end; says how that came.
fn follow(hub: &Hub, inputs: &Receiver<Input>) -> String {
    for input in inputs {
        let line = match &input {
            Input::Reply(reply) => serde_json::to_string(reply).unwrap_or_default(),
            Input::Lost(why) => json!({ "lost": why }).to_string(),
            Input::Leave => {
                json!({ "lost": "`whimbrel top --web` was ended; the run continues" }).to_string()
            }
            _ => continue,
        };
        let mut state = hub.state();
        let left = fold(&mut state.model, input).is_some();
        let line: Arc<str> = event(&line).into();
        state.viewers.retain(|viewer| viewer.try_send(Arc::clone(&line)).is_ok());
        let how = match &state.model.link {
            Link::Over { how, .. } => how.clone(),
            Link::Live if left => "the view was ended; the run continues".into(),
            Link::Live => continue,
        };
        (state.viewers, state.writes) = (Vec::new(), None);
        return how;
    }
    "the view was ended".into()
}

fn accept(hub: &Arc<Hub>, listener: &TcpListener) {
    for stream in listener.incoming() {
        // A connection that was given up, or too many open files.
        let Ok(stream) = stream else {
            thread::sleep(BACK_OFF);
            continue;
        };
        let hub = Arc::clone(hub);
        if hub.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            hub.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let serve = move || {
            // A peer that fails only loses its own connection.
            let _ = answer(&hub, &stream);
            hub.connections.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().spawn(serve).is_err() {
            thread::sleep(BACK_OFF);
        }
    }
}

fn answer(hub: &Hub, stream: &TcpStream) -> io::Result<()> {
    let asked = match http::read(stream) {
        Ok(asked) => asked,
        Err(http::Error::Refused(status)) => return hub.refuse(stream, status),
        Err(http::Error::Gone(error)) => return Err(error),
    };
    match (asked.method.as_str(), asked.path.as_str()) {
        _ if !asked.is_from_here() => hub.refuse(stream, FORBIDDEN),
        _ if !same(asked.token.as_bytes(), hub.token.as_bytes()) => {
            hub.refuse(stream, UNAUTHORIZED)
        }
        ("GET", "/") => {
            hub.begin(stream, OK, "text/html; charset=utf-8")?;
            { stream }.write_all(hub.page().as_bytes())
        }
        ("GET", "/events") => hub.show(stream),
        // A browser names the page that sends a form or a script's request, whoever wrote it.
        ("POST", "/ask") if asked.origin.is_none() => hub.refuse(stream, FORBIDDEN),
        ("POST", "/ask") => match serde_json::from_slice(&asked.body) {
            Ok(wish) => {
                let (ok, text) = hub.perform(wish);
                hub.begin(stream, OK, "application/json")?;
                { stream }.write_all(json!({ "ok": ok, "text": text }).to_string().as_bytes())
            }
            Err(_) => hub.refuse(stream, http::BAD),
        },
        (_, "/" | "/events" | "/ask") => hub.refuse(stream, NOT_ALLOWED),
        _ => hub.refuse(stream, NOT_FOUND),
    }
}

impl Asked {
    /// Whether the browser means this machine by a name that nobody else can give to it, and asks
    /// for a page that came from here. The port may be another one, at the other end of ssh.
    fn is_from_here(&self) -> bool {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        let origin = self.origin.as_deref().and_then(|origin| origin.strip_prefix("http://"));
        matches!(name, "127.0.0.1" | "localhost")
            && (self.origin.is_none() || origin == Some(self.host.as_str()))
    }
}

impl Hub {
    /// A thread that panicked leaves the state as it was between two calls.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, stream: &TcpStream, status: Status, kind: &str) -> io::Result<()> {
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src \
             'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            self.nonce
        );
        http::begin(stream, status, kind, &policy)
    }

    fn refuse(&self, mut stream: &TcpStream, status: Status) -> io::Result<()> {
        self.begin(stream, status, "text/plain; charset=utf-8")?;
        stream.write_all(format!("{status}\n").as_bytes())
    }

    /// The page; it is the same for every run, and shows what the events say.
    fn page(&self) -> String {
        let [style, script] = whimbrel_report::BASIS;
        let script = format!("{script}\n{}", SCRIPTS.concat());
        let style = format!("{style}\n{STYLE}");
        PAGE.replace("{{nonce}}", &self.nonce)
            .replace("{{style}}", &style)
            .replace("{{script}}", &script)
    }

    /// Tells a browser what there is, and then everything that happens.
    fn show(&self, mut stream: &TcpStream) -> io::Result<()> {
        let (sender, events) = mpsc::sync_channel(QUEUE);
        let (mut text, _writes) = {
            let mut state = self.state();
            if state.viewers.len() >= VIEWERS {
                drop(state);
                return self.refuse(stream, BUSY);
            }
            state.viewers.push(sender);
            (self.first(&state.model), state.writes.clone())
        };
        set_socket_send_buffer_size(stream, SEND_BUFFER)?;
        self.begin(stream, OK, "text/event-stream")?;
        loop {
            stream.write_all(text.as_bytes())?;
            thread::sleep(GAP);
            let Ok(next) = events.recv() else { return Ok(()) };
            text = next.to_string();
            events.try_iter().for_each(|event| text += &event);
        }
    }

    /// What a browser has to know first.
    fn first(&self, model: &Model) -> String {
        let policies: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
        let mut text =
            event(&json!({ "hello": { "run": self.run.name, "policies": policies } }).to_string());
        let picture = model.picture();
        text += &event(&json!({ "watching": model.portrait }).to_string());
        if model.totals > 0 {
            text += &event(&json!({ "status": picture.now }).to_string());
        }
        let past = picture.log.iter().skip(picture.log.len().saturating_sub(PAST));
        text + &past.map(|entry| event(&json!(entry).to_string())).collect::<String>()
    }

    /// Asks the run for what a browser wants; whether that went well, and how in words.
    fn perform(&self, wish: Wish) -> (bool, String) {
        let effect = {
            let model = &mut self.state().model;
            let effect = match wish {
                Wish::Move { task, .. } if task >= model.picture().now.tasks.len() => {
                    return (false, format!("no task {task}"));
                }
                Wish::Move { task, core } => {
                    model.selected = task;
                    model.migrate(core)
                }
                Wish::Policy(text) => model.choose(&text),
                Wish::Rate(text) => model.set_rate(&text),
                Wish::Faster => model.step(11, 10),
                Wish::Slower => model.step(10, 11),
                Wish::Channel(text) => model.set_channel(&text),
                Wish::Restart(core) => {
                    let what = format!("restart of core {core}");
                    Some(Effect::Ask(Request::Restart { core }, what))
                }
            };
            effect.ok_or_else(|| model.note.clone())
        };
        match effect {
            Ok(Effect::Ask(request, what)) => {
                let (ok, text) = link::outcome(&self.run, &request, &what);
                self.state().model.answer(ok, text.clone());
                (ok, text)
            }
            Ok(Effect::Quit) => (false, "the view was ended".into()),
            Err(why) => (false, why),
        }
    }
}

/// A server-sent event.
fn event(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// 128 bits that nobody can guess, as hexadecimal digits.
fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not tell where the difference is.
fn same(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_browser_that_does_not_read_is_disconnected_and_another_sees_all() {
        let folder = tempfile::tempdir().unwrap();
        let run = FoundRun { name: "test-1".into(), path: folder.path().into(), record: None };
        let (writes, written) = mpsc::channel();
        let model = Model::new("test-1");
        let hub = Arc::new(Hub {
            run,
            token: "12".into(),
            nonce: "34".into(),
            connections: AtomicUsize::new(0),
            state: Mutex::new(State { model, viewers: Vec::new(), writes: Some(writes) }),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (accepting, following) = (Arc::clone(&hub), Arc::clone(&hub));
        thread::spawn(move || accept(&accepting, &listener));
        let (inputs, heard) = mpsc::channel();
        let follows = thread::spawn(move || follow(&following, &heard));

        let watch = || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /events?token=12 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"HTTP/1.1 200");
            stream
        };
        let deaf = watch();
        let mut other = watch();
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let reads = thread::spawn(move || {
            let (mut text, mut part) = (String::new(), [0; 65536]);
            while let n @ 1.. = other.read(&mut part).unwrap() {
                text += std::str::from_utf8(&part[..n]).unwrap();
                counted.store(text.matches("\"advice\"").count(), Ordering::Relaxed);
            }
            text
        });
        assert_eq!(hub.state().viewers.len(), 2);

        let advice = |number: usize| {
            let text = format!("{number} {}", "x".repeat(4000));
            let advice = json!({ "time_ns": number, "policy": "mine", "core": 0, "text": text });
            Box::new(serde_json::from_value(json!({ "advice": advice })).unwrap())
        };
        let end = std::time::Instant::now() + Duration::from_secs(300);
        let mut said = 0;
        while hub.state().viewers.len() > 1 {
            assert!(std::time::Instant::now() < end);
            // Whatever a busy machine does, the queue of the one that reads does not run full.
            if said < read.load(Ordering::Relaxed) + QUEUE / 2 {
                inputs.send(Input::Reply(advice(said))).unwrap();
                said += 1;
            }
            thread::sleep(Duration::from_micros(200));
        }
        inputs.send(Input::Lost("its command was killed".into())).unwrap();
        assert_eq!(follows.join().unwrap(), "its command was killed");
        let text = reads.join().unwrap();
        assert_eq!(text.matches("\"advice\"").count(), said);
        assert!(text.ends_with("data: {\"lost\":\"its command was killed\"}\n\n"));
        // The other thread gives up after a while; here at once, as this end closes.
        drop(deaf);
        assert_eq!(written.recv(), Err(mpsc::RecvError));
    }

    #[test]
    fn only_names_of_this_machine_and_its_own_page_are_from_here() {
        let here = |host: &str, origin: Option<&str>| {
            let origin = origin.map(str::to_owned);
            Asked { host: host.into(), origin, ..Asked::default() }.is_from_here()
        };
        assert!(here("127.0.0.1:8000", None));
        assert!(here("localhost:9000", Some("http://localhost:9000")));
        for host in
            ["evil.example:8000", "127.0.0.1.evil.example", "[::1]:8000", "0.0.0.0:8000", ""]
        {
            assert!(!here(host, None), "{host}");
        }
        for origin in ["http://evil.example", "http://127.0.0.1:9000", "null", ""] {
            assert!(!here("127.0.0.1:8000", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_token_is_random_and_only_itself() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 32);
        assert!(same(one.as_bytes(), one.as_bytes()));
        for wrong in ["", &one[1..], &other, &format!("{one}0")] {
            assert!(!same(one.as_bytes(), wrong.as_bytes()), "{wrong}");
        }
    }
}
