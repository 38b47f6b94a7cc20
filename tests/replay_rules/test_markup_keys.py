"""Faults and doubled keys of XML."""

from __future__ import annotations

import pytest

from replay_rules.data_keys import reader_of
from replay_rules.markup_keys import SUFFIXES


def doubled(content: bytes, path: bytes = b"a.xml") -> set[bytes]:
    reader = reader_of(path)
    assert reader is not None
    read = reader(content)
    assert not read.faults
    return set(read.doubled)


def test_elements_beside_each_other_that_bear_one_name_are_found() -> None:
    assert doubled(b'<r><s name="a">1</s><s name="b"/><s name="a">2</s></r>') == {b"a"}
    assert doubled(b'<r><s name="a"/><t name="a"/><u><s name="a"/></u><s>a</s><s>a</s></r>') == set()
    assert doubled(b'<Project><ItemGroup><P Include="A" V="1"/><P Include="A" V="2"/></ItemGroup></Project>') == {b"A"}
    assert doubled(b'<G><P Include="A" Condition="x"/><P Include="A"/></G>', b"a.csproj") == set()


def test_properties_and_what_a_dictionary_holds_are_known_by_their_tags_and_keys() -> None:
    assert doubled(b"<p><properties><a>1</a><b>1</b><a>2</a></properties></p>", b"pom.xml") == {b"a"}
    assert doubled(b"<P><PropertyGroup><A>1</A><A Condition='c'>2</A></PropertyGroup></P>", b"a.props") == set()
    text = b"<plist><dict><key>a</key><dict><key>a</key><true/></dict><key>%s</key><string>a</string></dict></plist>"
    assert doubled(text % b"b", b"Info.plist") == set()
    assert doubled(text % b"a", b"Info.plist") == {b"a"}


def test_artifacts_are_known_by_their_coordinates() -> None:
    one = b"<dependency><groupId>g</groupId><artifactId>%s</artifactId><version>%s</version></dependency>"
    whole = b"<dependencies>%s</dependencies>"
    assert doubled(whole % (one % (b"a", b"1") + one % (b"b", b"1"))) == set()
    assert doubled(whole % (one % (b"a", b"1") + one % (b"a", b"2"))) == {b"g:a::"}


@pytest.mark.parametrize(
    "content",
    [b"", b"<a>", b"<a></b>", b"\xff", b"<a/><a/>", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', b"<<<<<<< x"],
)
def test_what_is_not_whole_or_declares_entities_is_a_fault(content: bytes) -> None:
    for suffix in SUFFIXES:
        reader = reader_of(b"a." + suffix)
        assert reader is not None
        assert reader(content).faults == 1
