"""A stand-in for the client of the Hub: each dataset is a folder, in which ``datasets`` can load it."""

from __future__ import annotations

import fnmatch
import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from commands import contents, laid
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.hf_api import RepoFile

#: Files of these suffixes are known by their SHA-256.
LARGE = (".wav", ".parquet", ".tar")


def answer(error: type[HfHubHTTPError], status: int, text: str = "an answer") -> HfHubHTTPError:
    """The error of an answer with this status."""
    return error(text, response=SimpleNamespace(status_code=status, headers={}, request=None))  # type: ignore[arg-type]


class HubStandIn:
    """What seldio calls of ``HfApi``; *fails* is raised by the next upload, *sends* replaces what a download has."""

    endpoint = "https://hub.example"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.private: dict[str, bool] = {}
        self.commits: list[str] = []
        self.sent: list[list[str]] = []
        self.downloads: list[str] = []
        self.fails: Exception | None = None
        self.sends: bytes | None = None

    def make(self, repo: str, files: dict[str, bytes], private: bool = False) -> None:
        self.private[repo] = private
        laid(self.folder / repo, files)

    def files(self, repo: str) -> dict[str, bytes]:
        return contents(self.folder / repo)

    def sha(self, repo: str) -> str:
        return hashlib.sha1(repr((sorted(self.files(repo).items()), self.commits)).encode()).hexdigest()

    # --- as HfApi has them ---------------------------------------------------------------------------

    def dataset_info(self, repo: str, *, revision: str = "main") -> Any:
        if repo not in self.private:
            raise answer(RepositoryNotFoundError, 404)
        if revision not in ("main", self.sha(repo)):
            raise answer(RevisionNotFoundError, 404)
        return SimpleNamespace(sha=self.sha(repo), private=self.private[repo])

    def list_repo_tree(self, repo: str, **_: Any) -> list[RepoFile]:
        found = []
        for name, data in self.files(repo).items():
            oid = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            large = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 1}
            found.append(RepoFile(path=name, size=len(data), oid=oid, lfs=large if name.endswith(LARGE) else None))
        return found

    def create_repo(self, repo: str, *, private: bool | None = None, **_: Any) -> None:
        self.private.setdefault(repo, bool(private))

    def upload_folder(
        self, *, repo_id: str, folder_path: Path, delete_patterns: list[str] | None = None, parent_commit: str | None,
        **_: Any,
    ) -> Any:  # fmt: skip
        if self.fails is not None:
            error, self.fails = self.fails, None
            raise error
        assert parent_commit in (None, self.sha(repo_id))
        for name in self.files(repo_id) if delete_patterns else ():
            if any(fnmatch.fnmatch(name, pattern) for pattern in delete_patterns or ()):
                (self.folder / repo_id / name).unlink()
        new = {
            path.relative_to(folder_path).as_posix(): path.read_bytes()
            for path in Path(folder_path).glob("**/*") if path.is_file()
        }  # fmt: skip
        self.make(repo_id, new, self.private[repo_id])
        self.sent.append(sorted(new))
        self.commits.append(repo_id)
        return SimpleNamespace(oid=self.sha(repo_id))

    def hf_hub_download(self, repo: str, name: str, **_: Any) -> str:
        return str(self.folder / repo / name)

    def snapshot_download(
        self, repo: str, *, local_dir: Path | None = None, allow_patterns: list[str] | None = None, **_: Any
    ) -> str:
        place = local_dir or self.folder.parent / "cache" / repo / "snapshots" / self.sha(repo)
        for name, data in self.files(repo).items():
            if allow_patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in allow_patterns):
                continue
            if not local_dir and (place / name).exists():
                continue
            self.downloads.append(name)
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data if self.sends is None else self.sends)
        if local_dir:
            (place / ".cache/huggingface").mkdir(parents=True, exist_ok=True)
            (place / ".cache/huggingface/notes").write_text("x")
        return str(place)
