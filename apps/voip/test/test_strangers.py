# SPDX-License-Identifier: Apache-2.0
"""Calls with phones that are not ours, as RFC 3261, 3264, 3551, 4733 and 8866 let them be."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from phones import HOST, Ours, lost_ms, ours
from strangers import PCMU, Message, Stranger, stranger

VIDEO = "m=video 5000 RTP/AVP 31"
EVENTS = "m=audio {port} RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000\na=fmtp:101 0-15"


@pytest.fixture(scope="module")
def phone() -> Iterator[Ours]:
    """One that takes the calls of many tests, one after the other."""
    with ours(calls=0, hang_up_ms=0, silence_ms=1500) as one:
        yield one
        one.process.terminate()
    assert one.process.returncode == 0, one.said


@pytest.fixture
def other(phone: Ours) -> Iterator[Stranger]:
    with stranger(phone.port) as one:
        yield one
        if one.tag:
            one.hang_up()


# ---- Descriptions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("media", "answered", "kind"),
    [
        (PCMU, ["audio - 0"], 0),
        ("m=audio {port} RTP/AVP 18 8", ["audio - 8"], 8),
        ("m=audio {port} RTP/AVP 3 4 9 0 8", ["audio - 0 8"], 0),
        ("m=audio {port} RTP/AVP 0\na=rtpmap:0 pcmu/8000/1", ["audio - 0"], 0),
        (
            "m=audio {port} RTP/AVP 97 98\na=rtpmap:97 speex/8000\na=rtpmap:98 pcma/8000",
            ["audio - 98"],
            98,
        ),
        ("m=audio {port} RTP/AVP 0 96\na=rtpmap:96 PCMU/8000", ["audio - 96"], 96),
        (
            "m=audio {port} RTP/AVP 99 8\na=rtpmap:99 telephone-event/8000",
            ["audio - 99 8"],
            8,
        ),
        ("m=audio {port}/2 RTP/AVP 0 ", ["audio - 0"], 0),
        ("m=audio {port} RTP/AVP 0\na=rtpmap:0 PCMU\na=fmtp:0\na=rtcp:x\nb=X", ["audio - 0"], 0),
        (f"{VIDEO}\n{PCMU}", ["video 0 0", "audio - 0"], 0),
        (f"{PCMU}\n{VIDEO}", ["audio - 0", "video 0 0"], 0),
        (f"m=audio 5000 RTP/AVP 18\n{VIDEO}\n{PCMU}", ["audio 0 0", "video 0 0", "audio - 0"], 0),
        (f"m=audio 0 RTP/AVP 0\n{PCMU}", ["audio 0 0", "audio - 0"], 0),
        (f"m=audio 5000 RTP/SAVP 0\n{PCMU}", ["audio 0 0", "audio - 0"], 0),
    ],
)
def test_an_offer_is_answered_line_by_line(
    media: str, answered: list[str], kind: int, other: Stranger
) -> None:
    answer = other.invite(other.sdp(media))
    assert answer.status == 200 and answer.media == answered
    other.hears(kind)


@pytest.mark.parametrize(
    "offer",
    [
        "m=audio {port} RTP/AVP 18",
        "m=audio {port} RTP/AVP 101\na=rtpmap:101 telephone-event/8000",
        "m=audio 0 RTP/AVP 0",
        VIDEO,
    ],
)
def test_an_offer_of_no_codec_that_both_have_is_refused(offer: str, other: Stranger) -> None:
    answer = other.invite(other.sdp(offer))
    assert answer.status == 488 and answer.header("Warning").startswith(f"305 {HOST} ")


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("has_last", [True, False])
def test_lines_of_a_description_end_in_any_way(end: str, has_last: bool, other: Stranger) -> None:
    text = other.sdp().replace("\r\n", end)
    assert other.invite(text if has_last else text.rstrip()).status == 200
    other.hears()


def test_a_description_without_an_address_by_numbers_is_refused(other: Stranger) -> None:
    for address, code in (("localhost", "301"), ("::1", "300")):
        text = other.sdp().replace(
            f"c=IN IP4 {HOST}", f"c=IN IP{6 if ':' in address else 4} {address}"
        )
        answer = other.invite(text)
        assert answer.status == 488 and answer.header("Warning").startswith(code)
    assert other.invite("no description").status == 400


def multipart(boundary: str, *parts: tuple[str, str]) -> str:
    head = "".join(
        f"--{boundary}\r\nContent-Type: {kind}\r\n\r\n{text}\r\n" for kind, text in parts
    )
    return f"to be passed over\r\n{head}--{boundary}--\r\n"


def test_a_description_is_found_in_a_body_of_parts(other: Stranger) -> None:
    sdp = ("application/sdp", other.sdp())
    inner = multipart("in", ("text/html", "<p>"), sdp)
    for kind, body in (
        ("multipart/mixed;boundary=b1", multipart("b1", ("text/plain", "hello"), sdp)),
        ('multipart/mixed; boundary="b 2"', multipart("b 2", sdp, ("text/plain", "hello"))),
        (
            "multipart/mixed; boundary=out",
            multipart("out", ("multipart/alternative; boundary=in", inner)),
        ),
    ):
        assert other.invite(body, kind=kind).status == 200
    none = multipart("b3", ("text/plain", "hello"))
    assert other.invite(none, kind="multipart/mixed;boundary=b3").status == 415
    other.hears()


def test_a_body_of_another_kind_is_refused_with_what_is_accepted(other: Stranger) -> None:
    for headers in ("", "Content-Encoding: gzip"):
        kind = "application/sdp" if headers else "text/plain"
        answer = other.invite(other.sdp(), headers, kind=kind)
        assert answer.status == 415 and "application/sdp" in answer.header("Accept")
    other.send("INVITE", other.sdp(), length=5000)
    assert other.answer().status == 400
    other.send("ACK", cseq=other.cseq)
    optional = "Content-Disposition: render;handling=optional"
    answer = other.invite("hello", optional, agreed=other.sdp(), kind="text/plain")
    assert answer.status == 200 and answer.media == ["audio - 0 8 101"]
    other.hears()


# ---- Holds --------------------------------------------------------------------------------------

HELD = [
    ({"extra": "a=sendonly"}, "recvonly"),
    ({"head": "a=sendonly"}, "recvonly"),
    ({"extra": "a=inactive"}, "inactive"),
    ({"address": "0.0.0.0"}, "recvonly"),
    ({"address": "0.0.0.0", "extra": "a=recvonly"}, "inactive"),
    ({"address": "nobody.invalid"}, "recvonly"),
]


@pytest.mark.parametrize(("held", "answered"), HELD)
def test_a_held_call_is_silent_until_it_is_resumed(
    held: dict[str, str], answered: str, other: Stranger
) -> None:
    first = other.invite(other.sdp())
    other.talk(5)
    hold = other.invite(other.sdp(**held))
    assert hold.status == 200 and hold.direction == answered
    other.packets(0.1)  # what was on its way
    assert not other.packets(2.0)  # longer than the phone bears silence otherwise
    again = other.invite(other.sdp(**held))
    assert again.direction == answered and not other.packets(0.1)
    resumed = other.invite(other.sdp())
    assert resumed.direction == "sendrecv"
    other.hears()
    # The version increases when the description changes (RFC 3264, 8).
    origins = [one.origin for one in (first, hold, again, resumed)]
    assert len({number for number, _ in origins}) == 1
    assert [version - origins[0][1] for _, version in origins] == [0, 1, 1, 2]


@pytest.mark.parametrize(("held", "answered"), HELD)
def test_a_call_may_begin_held(held: dict[str, str], answered: str, other: Stranger) -> None:
    answer = other.invite(other.sdp(**held))
    assert answer.status == 200 and answer.direction == answered
    assert not other.packets(0.2)
    assert other.invite(other.sdp()).direction == "sendrecv"
    other.hears()


def test_one_that_only_listens_is_sent_sound_and_may_be_silent(other: Stranger) -> None:
    assert other.invite(other.sdp(extra="a=recvonly")).direction == "sendonly"
    time.sleep(2)
    other.hears()


def test_a_hold_that_is_sent_again_is_answered_again(other: Stranger) -> None:
    other.invite(other.sdp())
    sent = other.send("INVITE", other.sdp(extra="a=inactive"))
    first = other.answer()
    other.sip.sendto(sent, (HOST, other.port))
    assert other.answer().text == first.text
    other.send("ACK", cseq=other.cseq)
    other.packets(0.1)
    assert not other.packets(0.2)


def test_nothing_is_lost_by_a_hold() -> None:
    with ours(hang_up_ms=0) as phone, stranger(phone.port) as other:
        other.invite(other.sdp())
        for held in ("a=sendonly", "a=inactive"):
            other.talk(20)
            other.invite(other.sdp(extra=held))
            time.sleep(0.5)
            other.invite(other.sdp())
        other.talk(20)
        other.hang_up()
    print(phone.said)
    late = lost_ms(phone, other) / 20
    assert phone.told("lost") <= late and phone.told("concealed") <= late
    assert phone.told("unwanted") == 0 and phone.gap_ms() <= 100 + lost_ms(phone)
    for words in ("the other phone holds the call", "the call continues"):
        assert phone.said.count(words) == 2


# ---- Changes of a call --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["INVITE", "UPDATE"])
def test_a_change_of_codec_and_address_is_followed(method: str, other: Stranger) -> None:
    def change(body: str) -> Message:
        return other.invite(body) if method == "INVITE" else other.ask("UPDATE", body)

    other.invite(other.sdp())
    other.hears(0)
    other.talk(5, 0)
    answer = change(other.sdp("m=audio {port} RTP/AVP 8"))
    assert answer.status == 200 and answer.media == ["audio - 8"]
    other.hears(8)
    other.talk(5, 8)
    with stranger() as elsewhere:
        before, other.media = other.media, elsewhere.media
        assert change(other.sdp(f"m=audio {{port}} RTP/AVP 0\n{VIDEO}")).status == 200
        other.hears(0)
        other.media = before
        other.packets(0.1)
        assert not other.packets(0.2)


def test_a_change_that_is_not_possible_leaves_the_call_as_it_was(other: Stranger) -> None:
    other.invite(other.sdp())
    for body, kind, status in (
        (other.sdp("m=audio {port} RTP/AVP 18"), "application/sdp", 488),
        (other.sdp(f"{VIDEO}\n{PCMU}"), "application/sdp", 488),  # the lines changed their places
        ("no description", "application/sdp", 400),
        ("hello", "text/plain", 415),
    ):
        assert other.invite(body, kind=kind).status == status
        other.hears(0)
    assert other.ask("UPDATE", other.sdp("m=audio {port} RTP/AVP 18")).status == 488
    assert other.ask("UPDATE").status == 200
    other.hears(0)


def test_a_caller_without_an_offer_is_made_one_again_and_again(other: Stranger) -> None:
    for kind in (8, 0):
        answer = other.invite(agreed=other.sdp(f"m=audio {{port}} RTP/AVP {kind}"))
        assert answer.status == 200 and sorted(answer.media[0].split()[2:]) == ["0", "101", "8"]
        other.hears(kind)
    assert other.invite(agreed=other.sdp("m=audio {port} RTP/AVP 18")).status == 200
    other.hears(0)


def test_sound_that_is_given_up_leaves_the_call(other: Stranger) -> None:
    other.invite(other.sdp())
    assert other.invite(other.sdp("m=audio 0 RTP/AVP 0")).media == ["audio 0 0"]
    other.packets(0.1)
    assert not other.packets(0.2)
    other.invite(other.sdp())
    other.hears()


# ---- Requests -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "unsupported"),
    [
        ("Require: 100rel", "100rel"),
        ("Require: timer, x-nothing", "timer, x-nothing"),
        ("Require: a\nrequire: b,c", "a, b, c"),
    ],
)
def test_what_is_required_and_not_known_is_answered_420(
    headers: str, unsupported: str, other: Stranger
) -> None:
    for method in ("INVITE", "OPTIONS"):
        body = other.sdp() if method == "INVITE" else ""
        answer = other.ask(method, body, headers)
        assert answer.status == 420 and answer.header("Unsupported") == unsupported
        other.send("ACK", cseq=other.cseq) if body else None
    other.invite(other.sdp())
    assert other.invite(other.sdp(), headers).status == 420
    other.hears()


def test_extensions_that_are_for_a_proxy_or_only_supported_do_no_harm(other: Stranger) -> None:
    assert other.invite(other.sdp(), "Proxy-Require: x\nSupported: 100rel, timer").status == 200


@pytest.mark.parametrize(
    ("method", "status"),
    [("OPTIONS", 200), ("REGISTER", 405), ("INFO", 405), ("REFER", 405), ("TURN", 501)],
)
def test_each_method_is_answered_with_those_that_are_served(
    method: str, status: int, other: Stranger
) -> None:
    answer = other.ask(method)
    assert answer.status == status
    assert answer.header("Allow") == "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE"
    assert "application/sdp" in answer.header("Accept")


@pytest.mark.parametrize("method", ["BYE", "UPDATE", "CANCEL"])
def test_a_request_for_no_call_is_answered_481(method: str, other: Stranger) -> None:
    assert other.ask(method).status == 481


def test_nothing_of_strangers_reaches_the_terminal(phone: Ours, other: Stranger) -> None:
    before = len(phone.log())
    for junk in (b"junk", bytes(100), b"GET / HTTP/1.1\r\n\r\n", b"OPTIONS sip:a SIP/2.0\r\n\r\n"):
        other.sip.sendto(junk, (HOST, phone.port))
    assert other.ask("OPTIONS").status == 200
    assert phone.log()[before:] == ""


# ---- Packets without sound ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("media", "kind"), [(EVENTS, 101), (EVENTS.replace("101", "96"), 96), (PCMU, 101)]
)
def test_telephone_events_belong_to_the_stream(media: str, kind: int) -> None:
    with ours(hang_up_ms=0) as phone, stranger(phone.port) as other:
        answer = other.invite(other.sdp(media))
        assert answer.media == ["audio - 0" if media == PCMU else f"audio - 0 {kind}"]
        other.talk(20)
        for key in (5, 11):
            other.press(key, kind)
            other.talk(20)
        other.hang_up()
    print(phone.said)
    late = lost_ms(phone, other) / 20
    assert phone.told("lost") <= late and phone.told("concealed") <= late
    assert phone.told("unwanted") == 0 and phone.told("received") == 80
    assert phone.said.count("the other phone presses: 5") == 1
    assert phone.said.count("the other phone presses: #") == 1


def test_comfort_noise_and_the_silence_after_it_are_no_loss() -> None:
    with ours(hang_up_ms=0) as phone, stranger(phone.port) as other:
        other.invite(other.sdp("m=audio {port} RTP/AVP 0 13"))
        for _ in range(2):
            other.talk(20)
            other.packet(b"\x40", 13)
            time.sleep(0.4)
        other.talk(20)
        other.hang_up()
    late = lost_ms(phone, other) / 20
    assert phone.told("lost") <= late and phone.told("concealed") <= late
    assert phone.told("unwanted") == 0


def test_any_codec_of_the_answer_may_come() -> None:
    with ours(hang_up_ms=0) as phone, stranger(phone.port) as other:
        other.invite(other.sdp("m=audio {port} RTP/AVP 0 8"))
        for kind in (0, 8, 0):
            other.talk(15, kind)
        other.hang_up()
    late = lost_ms(phone, other) / 20
    assert phone.told("unwanted") == 0 and phone.told("decoded") >= 40 - late


# ---- The ends of calls --------------------------------------------------------------------------


def test_a_caller_that_hangs_up_or_gives_up_is_no_error() -> None:
    with ours(hang_up_ms=0, ring_ms=60000) as phone, stranger(phone.port) as other:
        other.send("INVITE", other.sdp())
        assert other.answer(180).status == 180
        other.send("CANCEL", cseq=other.cseq)
        assert {other.answer().status, other.answer().status} == {200, 487}
    assert "the caller has given up" in phone.said and "reset" not in phone.said
    with ours(hang_up_ms=0) as phone, stranger(phone.port) as other:
        other.invite(other.sdp())
        other.hang_up()
    assert "the other phone has hung up" in phone.said and "reset" not in phone.said


@pytest.mark.parametrize(
    ("status", "cause", "cure"),
    [
        ("401 Unauthorized", "wants a user and a password", "set user, login and password_file"),
        ("407 Proxy Authentication Required", "the proxy wants", "set user, login and"),
        ("404 Not Found", "does not exist there", "correct the name before the @"),
        ("408 Request Timeout", "did not answer in time", "start the other phone"),
        ("480 Temporarily Unavailable", "is not available", "call again later"),
        ("486 Busy Here", "the peer is busy", "call again later"),
        ("488 Not Acceptable Here", "does not accept the sound", "set codecs and rate"),
        ("603 Decline", "declines the call", "call again later"),
        ("599 Whatever", "599 Whatever", "check the address in peer"),
    ],
)
def test_a_call_that_fails_says_why_and_what_to_do(status: str, cause: str, cure: str) -> None:
    with stranger() as other, ours(peer=f"sip:b@{HOST}:{other.own}") as phone:
        code = int(status.split()[0])
        name = {401: "WWW", 407: "Proxy"}.get(code)
        headers = f'{name}-Authenticate: Digest realm="x", nonce="1"' if name else ""
        other.reply(other.request(), status, headers=headers)
    assert phone.process.returncode == 2
    assert "the call has failed: " in phone.said and cause in phone.said
    assert status in phone.said and f"help: {cure}" in phone.said


def test_a_call_follows_to_where_the_peer_has_moved() -> None:
    with (
        stranger() as other,
        stranger() as there,
        ours(peer=f"sip:b@{HOST}:{other.own}", hang_up_ms=0) as phone,
    ):
        moved = f"Contact: <sip:c@{HOST}:{there.own}>"
        other.reply(other.request(), "302 Moved Temporarily", headers=moved)
        invite = there.request()
        assert invite.text.startswith(f"INVITE sip:c@{HOST}:{there.own} ")
        there.reply(invite, "200 OK", there.sdp())
        assert there.request().text.startswith("ACK ")
        there.hears()
        there.hang_up_called(invite)
    assert phone.process.returncode == 0 and phone.told("calls") == 1


def test_a_peer_that_has_moved_to_no_address_says_so() -> None:
    with stranger() as other, ours(peer=f"sip:b@{HOST}:{other.own}") as phone:
        moved = "Contact: <sip:c@nowhere.invalid>"
        other.reply(other.request(), "302 Moved Temporarily", headers=moved)
    assert phone.process.returncode == 2
    assert "the name of the peer is not found" in phone.said


@pytest.mark.parametrize(
    ("media", "codec"),
    [
        ("m=audio {port} RTP/AVP 8", "PCMA"),
        ("m=audio {port} RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000", "PCMU"),
        ("m=audio {port} RTP/AVP 18", ""),
        ("m=audio 0 RTP/AVP 0", ""),
    ],
)
def test_an_answer_needs_no_names_of_static_types(media: str, codec: str) -> None:
    with stranger() as other, ours(peer=f"sip:b@{HOST}:{other.own}", hang_up_ms=200) as phone:
        invite = other.request()
        other.reply(invite, "200 OK", other.sdp(media))
        while not (request := other.request()).text.startswith("BYE "):
            pass
        other.reply(request, "200 OK")
    if codec:
        assert phone.process.returncode == 0 and f"in a call by: {codec}" in phone.said
    else:
        assert phone.process.returncode == 2 and "without a supported codec" in phone.said
        assert "help: set codecs to what the other phone supports" in phone.said
