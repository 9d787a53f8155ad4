#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A SIP server for the tests: Kamailio on 127.0.0.1, as a child of the test.

It keeps who is registered in memory, asks each user for the password of password_of() by digest,
for REGISTER, INVITE and BYE alike, and stays in the way of a call (Record-Route).

    kamailio.py PORT FOLDER    # until Ctrl-C; TLS is at the port above, its certificate in FOLDER
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
REALM = "phones.test"
PATIENCE_S = 60

CONFIG = """#!KAMAILIO
debug=1
log_stderror=yes
fork=yes
children=1
tcp_children=1
auto_aliases=no
dns=no
rev_dns=no
listen=udp:{host}:{port}
listen=tcp:{host}:{port}
listen=tls:{host}:{tls_port}
enable_tls=yes
mpath="{modules}"
loadmodule "tls.so"
loadmodule "pv.so"
loadmodule "sl.so"
loadmodule "tm.so"
loadmodule "rr.so"
loadmodule "maxfwd.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
loadmodule "nathelper.so"
loadmodule "siputils.so"
loadmodule "textops.so"
modparam("tls", "tls_method", "TLSv1.2+")
modparam("tls", "certificate", "{folder}/certificate.pem")
modparam("tls", "private_key", "{folder}/key.pem")
modparam("registrar", "min_expires", 5)
modparam("nathelper", "received_avp", "$avp(RECEIVED)")
modparam("registrar", "received_avp", "$avp(RECEIVED)")

route[CHALLENGE] {{
    if (!pv_proxy_authenticate("{realm}", "secret-of-$au", "0")) {{
        proxy_challenge("{realm}", "1");
        exit;
    }}
    consume_credentials();
}}

request_route {{
    if (!mf_process_maxfwd_header("10")) {{ sl_send_reply("483", "Too Many Hops"); exit; }}
    force_rport();
    if (is_method("OPTIONS")) {{ sl_send_reply("200", "OK"); exit; }}
    if (is_method("REGISTER")) {{
        if (!pv_www_authenticate("{realm}", "secret-of-$au", "0")) {{
            www_challenge("{realm}", "1");
            exit;
        }}
        if ($au != $tU) {{ sl_send_reply("403", "Forbidden"); exit; }}
        fix_nated_register();
        if (!save("location")) {{ sl_reply_error(); }}
        exit;
    }}
    if (has_totag()) {{
        if (is_method("BYE")) {{ route(CHALLENGE); }}
        if (loose_route() || (is_method("ACK") && t_check_trans())) {{ t_relay(); exit; }}
        if (!is_method("ACK")) {{ sl_send_reply("404", "Not Here"); }}
        exit;
    }}
    if (is_method("CANCEL")) {{ if (t_check_trans()) {{ t_relay(); }} exit; }}
    t_check_trans();
    remove_hf("Route");
    if (is_method("INVITE")) {{ route(CHALLENGE); record_route(); }}
    if (!lookup("location")) {{ sl_send_reply("404", "Not Found"); exit; }}
    t_relay();
}}
"""


def password_of(user: str) -> str:
    return f"secret-of-{user}"


def free_ports() -> int:
    """A port that nobody has by UDP or TCP, nor the one after it."""
    while True:
        with ExitStack() as opened, suppress(OSError):
            first = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            first.bind((HOST, 0))
            port = first.getsockname()[1]
            for kind, number in (
                (socket.SOCK_DGRAM, port),
                (socket.SOCK_STREAM, port + 1),
                (socket.SOCK_DGRAM, port + 1),
            ):
                opened.enter_context(socket.socket(socket.AF_INET, kind)).bind((HOST, number))
            return port


def certificate(folder: Path, names: str = f"IP:{HOST},DNS:localhost") -> Path:
    """A certificate that signs itself, with its key beside it."""
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=phones.test", "-addext"]
    words += [f"subjectAltName={names}", "-keyout", folder / "key.pem"]
    made = folder / "certificate.pem"
    subprocess.run([*words, "-out", made], check=True, capture_output=True)
    return made


@dataclass
class Server:
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def uri(self, transport: str = "udp") -> str:
        port = self.port + (transport == "tls")
        return f"sip:{HOST}:{port}" + ("" if transport == "udp" else f";transport={transport}")

    def address(self, user: str) -> str:
        return f"sip:{user}@{HOST}:{self.port}"

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def answers(self) -> bool:
        options = (
            f"OPTIONS sip:{HOST}:{self.port} SIP/2.0\r\n"
            f"Via: SIP/2.0/UDP {HOST};rport;branch=z9hG4bK1\r\nFrom: <sip:t@{HOST}>;tag=1\r\n"
            f"To: <sip:{HOST}>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\n"
            "Content-Length: 0\r\n\r\n"
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
            asking.settimeout(0.2)
            asking.sendto(options.encode(), (HOST, self.port))
            return asking.recv(4096).startswith(b"SIP/2.0 200")
        return False

    def start(self) -> None:
        # It ends with the test, however that ends.
        words = ["setpriv", "--pdeathsig", "TERM", "/usr/sbin/kamailio", "-DD", "-E"]
        words += ["-m", "32", "-M", "4", "-Y", self.folder, "-P", self.folder / "pid"]
        words += ["-w", self.folder, "-f", self.folder / "kamailio.cfg"]
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + PATIENCE_S
        while not self.answers():
            assert self.process.poll() is None and time.monotonic() < deadline, self.log()

    def stop(self) -> None:
        process, self.process = self.process, None
        if not process:
            return
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        with suppress(ProcessLookupError):  # its children, which are of its session
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def kamailio(folder: Path, port: int = 0) -> Iterator[Server]:
    folder.mkdir(exist_ok=True)
    (modules,) = Path("/usr/lib").glob("*/kamailio/modules")
    server = Server(folder.resolve(), port or free_ports())
    certificate(folder)
    there = {"host": HOST, "port": server.port, "tls_port": server.port + 1, "realm": REALM}
    there |= {"modules": modules, "folder": server.folder}
    (folder / "kamailio.cfg").write_text(CONFIG.format(**there))
    try:
        server.start()
        yield server
    finally:
        server.stop()


if __name__ == "__main__":
    with kamailio(Path(sys.argv[2]), int(sys.argv[1])) as started, suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
        print(f"the server is at {started.uri()}, and {started.uri('tls')}", flush=True)
        started.process.wait()
