"""A file is whole or absent."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rmt_attention.files import check_writable, write_whole


def _write_half(path: Path, error: type[BaseException]) -> None:
    with write_whole(path) as stream:
        stream.write(b"half of the n")
        raise error


def test_the_content_arrives_under_the_name_asked_for(tmp_path: Path) -> None:
    with write_whole(tmp_path / "a.bin") as stream:
        stream.write(b"content")
    assert (tmp_path / "a.bin").read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_until_the_end_the_old_file_is_in_place(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with write_whole(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(error):
        _write_half(path, error)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_write_that_fails_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _write_half(tmp_path / "a.bin", RuntimeError)
    assert os.listdir(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        with write_whole(tmp_path / "a.bin") as stream:
            stream.write(b"x")
        assert os.umask(0o027) == 0o027, "the umask was changed"
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) == 0o640


def test_a_name_in_the_working_directory_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with write_whole("a.bin") as stream:
        stream.write(b"x")
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_missing_folder_and_a_folder_as_name_are_refused_by_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"path=.*nowhere.*does not exist"):
        check_writable(tmp_path / "nowhere" / "a.bin")
    with pytest.raises(IsADirectoryError, match=r"path=.*is a directory"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError), write_whole(tmp_path / "nowhere" / "a.bin"):
        pass


def test_a_place_without_permission_is_refused_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # os.access is replaced because a superuser may write anywhere.
    monkeypatch.setattr(os, "access", lambda *_args, **_keywords: False)
    with pytest.raises(PermissionError, match=r"path=.*a\.bin.*not writable"):
        check_writable(tmp_path / "a.bin")


def test_checking_writes_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a.bin")
    assert os.listdir(tmp_path) == []


def test_a_link_leads_to_the_file_it_names_and_a_device_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with write_whole(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    with write_whole("/dev/null") as stream:
        stream.write(b"gone")
    assert Path("/dev/null").is_char_device()


def test_a_full_device_is_an_error_that_names_it() -> None:
    with pytest.raises(OSError, match=r"path='/dev/full': cannot be written"), write_whole("/dev/full") as stream:
        stream.write(b"x" * 100_000)


def test_an_error_that_names_its_file_passes_the_others(tmp_path: Path) -> None:
    """Several files are open at once: the one that fails is named, not the one around it."""
    with (
        pytest.raises(OSError, match=r"path='/dev/full': cannot be written"),
        write_whole(tmp_path / "outer"),
        write_whole("/dev/full") as stream,
    ):
        stream.write(b"x" * 100_000)
    assert not (tmp_path / "outer").exists()
