from __future__ import annotations

import pytest

from qodebase.trunk.batch import LandingRefused, Person
from qodebase.trunk.commits import commit_bytes, message_bytes, parse_commit, person_line, trailers_of


def test_a_commit_is_read_back_as_it_was_written() -> None:
    content = commit_bytes(
        tree=b"\1" * 20,
        parents=[b"\2" * 20, b"\3" * 20],
        author=person_line(Person(name="Ä B", mail="a@b", time=5, zone="-0130")),
        committer=person_line(Person(name="C", mail="", time=6)),
        message=message_bytes("Say\n\nwhy\n\n", [("Key-One", "a: b"), ("Key-Two", "")]),
        sign=lambda payload: b"line\n\nline\n",
    )
    facts = parse_commit(b"\4" * 20, content)
    assert facts.id == "04" * 20
    assert facts.tree == "01" * 20
    assert facts.parents == ("02" * 20, "03" * 20)
    assert facts.author == "Ä B <a@b> 5 -0130".encode()
    assert facts.committer == b"C <> 6 +0000"
    assert facts.message == "Say\n\nwhy\n\nKey-One: a: b\nKey-Two: \n"
    assert facts.trailers == (("Key-One", "a: b"), ("Key-Two", ""))


def test_only_a_last_paragraph_that_is_all_trailers_has_trailers() -> None:
    assert trailers_of("Key: subject") == ()
    assert trailers_of("subject\n\nKey: one\nno trailer\n") == ()
    assert trailers_of("subject\n\nKey: one\n\nbody\n") == ()
    assert trailers_of("subject\n\nKey: one\n\n\nOther: two\n\n") == (("Other", "two"),)


@pytest.mark.parametrize(
    "person",
    [
        Person(name="", mail="a@b", time=1),
        Person(name=" ", mail="a@b", time=1),
        Person(name="a<b", mail="a@b", time=1),
        Person(name="a", mail="a>b", time=1),
        Person(name="a\nb", mail="a", time=1),
        Person(name="a", mail="a", time=-1),
        Person(name="a", mail="a", time=1, zone="UTC"),
    ],
)
def test_a_person_that_git_could_not_read_back_is_refused(person: Person) -> None:
    with pytest.raises(LandingRefused):
        person_line(person)


def test_a_message_that_utf8_cannot_hold_is_refused() -> None:
    with pytest.raises(LandingRefused):
        message_bytes("\ud800", [])
