"""Patch files are read as people write them."""

from __future__ import annotations

from fleet.jobs.branches.patches import read_patch

DIFF = b"diff --git a/one b/one\n--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n"
MAIL = (
    b"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
    b"From: =?UTF-8?q?Zo=C3=AB?= <zoe@example.org>\nDate: Tue, 14 Nov 2023 22:13:20 +0100\n"
    b"Subject: [PATCH v2 1/2] [core] A long\n subject\n"
    b"MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n"
    b"Why it is so.\n\nQodebase-Run: theirs\nSigned-off-by: Zo\xc3\xab <zoe@example.org>\n---\n one | 2 +-\n\n"
    + DIFF
    + b"-- \n2.39.5\n\n"
)


def test_a_mail_tells_what_was_asked_who_made_it_and_the_diff() -> None:
    patch = read_patch(MAIL)
    assert patch.asked == "A long subject\n\nWhy it is so.\n\nSigned-off-by: Zoë <zoe@example.org>"
    assert patch.author == "Zoë <zoe@example.org> 1699996400 +0100"
    assert patch.diff == DIFF


def test_several_mails_in_one_file_are_one_piece_of_work() -> None:
    patch = read_patch(MAIL + MAIL.replace(b"a long", b"Another").replace(b"A long", b"Another"))
    assert patch.asked.count("subject") == 2
    assert patch.diff == DIFF + b"\n" + DIFF


def test_a_diff_takes_the_text_before_it_as_what_was_asked() -> None:
    assert read_patch(b"Make it b\n\n" + DIFF) == ("Make it b", "", DIFF)
    assert read_patch(DIFF) == ("", "", DIFF)
    assert read_patch(b"From here on, no mail\n") == ("From here on, no mail", "", b"")


def test_a_mail_in_base64_and_bytes_of_another_encoding_are_read() -> None:
    import base64

    head = MAIL.partition(b"Content-Transfer")[0]
    body = b"Text\n---\n" + DIFF.replace(b"+b", b"+\xe9")
    coded = head + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(body)
    assert read_patch(coded).diff == DIFF.replace(b"+b", b"+\xe9")
