"""A Hub on the loopback interface: repositories in memory, the protocol of the real one, and faults on request.

It knows what ``huggingface_hub`` and ``datasets`` ask for: repositories, commits on top of a parent, large files by
the LFS protocol, trees, downloads with ranges, and the check of a card's YAML. Of Xet it has the first steps alone:
where ``xet`` is set, downloads name a route to a token for that storage, and the route gives one. There is no storage
behind it, so that clients need ``HF_HUB_DISABLE_XET=1`` before they are imported.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

TOKEN = "hf_" + "LoopbackTokenForTests" * 2
#: Files of these suffixes, and larger ones, are stored by the LFS protocol.
LARGE_SUFFIXES, LARGE = (".wav", ".flac", ".parquet", ".mp4", ".zip"), 100_000
LICENSES = {"mit", "apache-2.0", "cc-by-4.0", "cc0-1.0", "cc-by-nc-4.0", "other", "unknown"}
TASKS = {"audio-classification", "question-answering", "audio-text-to-text", "multiple-choice", "other"}
Answer = tuple[int, dict[str, str], bytes]


def git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclasses.dataclass(frozen=True)
class Blob:
    """A stored file; a large one is known by its SHA-256."""

    data: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def pointer(self) -> bytes:
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.data)}\n".encode()

    @property
    def oid(self) -> str:
        return git_oid(self.pointer if self.large else self.data)


@dataclasses.dataclass(frozen=True)
class Commit:
    oid: str
    message: str
    tree: dict[str, Blob]


@dataclasses.dataclass
class Repository:
    private: bool
    branches: dict[str, list[Commit]]

    @property
    def head(self) -> Commit:
        return self.branches["main"][-1]

    def find(self, revision: str) -> Commit | None:
        if revision in self.branches:
            return self.branches[revision][-1]
        return next((c for log in self.branches.values() for c in log if c.oid == revision), None)

    def add(self, branch: str, message: str, tree: dict[str, Blob]) -> Commit:
        log = self.branches.setdefault(branch, [])
        names = "".join(f"{name}{blob.oid}" for name, blob in sorted(tree.items()))
        oid = hashlib.sha1(f"{branch}{len(log)}{message}{names}".encode()).hexdigest()
        log.append(Commit(oid, message, tree))
        return log[-1]


@dataclasses.dataclass
class Fault:
    """What goes wrong with the next *times* requests that fit.

    Args:
        what: a status that is answered; ``late`` and a status (``late 503``): the request is carried out, and then
            that is answered; ``cut``: the connection ends in the middle; ``wrong``: a byte is changed.
    """

    method: str
    path: str
    what: int | str
    times: int = 1
    skip: int = 0
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


class Hub:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.large: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str]] = []
        self.authorizations: list[str] = []  # what requests said of who they are, token and all
        self.xet: Callable[[str], dict[str, str]] | None = None  # from a route to headers that name it
        self.between: Callable[[], None] | None = None  # run once before the next commit is looked at
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def reset(self) -> None:
        """Forget everything."""
        self.repositories.clear()
        self.large.clear()
        self.faults.clear()
        self.requests.clear()
        self.authorizations.clear()
        self.xet = self.between = None

    def asked(self, method: str, path: str) -> int:
        """How often something like that was asked for."""
        return sum(m == method and re.search(path, p) is not None for m, p in self.requests)

    def fault(self, method: str, path: str, what: int | str, times: int = 1, skip: int = 0, **headers: str) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults.append(Fault(method, path, what, times, skip, names))

    def make(self, name: str, files: dict[str, bytes], private: bool = False, large: bool = False) -> Repository:
        """A repository with files, made by somebody else."""
        repository = Repository(private, {})
        repository.add("main", "initial commit", {".gitattributes": Blob(b"*.wav filter=lfs\n", False)})
        blobs = {path: Blob(data, large or is_large(path, len(data))) for path, data in files.items()}
        repository.add("main", "files", {**repository.head.tree, **blobs})
        self.repositories[name] = repository
        return repository

    def files(self, name: str) -> dict[str, bytes]:
        """The files at the head, without what the Hub itself puts there."""
        tree = self.repositories[name].head.tree
        return {path: blob.data for path, blob in tree.items() if path != ".gitattributes"}

    # --- requests --------------------------------------------------------------------------------------

    def take(self, method: str, path: str) -> Fault | None:
        with self.lock:
            self.requests.append((method, path))
            for fault in self.faults:
                if fault.times and fault.method == method and re.search(fault.path, path):
                    if fault.skip:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None

    def answer(self, method: str, target: str, body: bytes, headers: Any) -> Answer:
        url = urlsplit(target)
        path, query = unquote(url.path), parse_qs(url.query)
        trusted = headers.get("Authorization") == f"Bearer {TOKEN}"
        for verb, pattern, handle in ROUTES:
            if (verb == method or (verb == "GET" and method == "HEAD")) and (match := re.fullmatch(pattern, path)):
                with self.lock:
                    return handle(self, match, body, query, trusted, headers)
        return plain(404, "no such page")

    def repository(self, name: str, trusted: bool) -> Repository | None:
        found = self.repositories.get(name)
        return found if found is not None and (trusted or not found.private) else None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else every answer waits 40 ms

            def log_message(self, *_: object) -> None:
                pass

            def run(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                hub.authorizations += self.headers.get_all("Authorization") or []
                fault = hub.take(self.command, self.path)
                what = fault.what if fault else None
                if isinstance(what, int):
                    self.reply(plain(what, "a fault", **(fault.headers if fault else {})))
                    return
                found = hub.answer(self.command, self.path, body, self.headers)
                if what == "wrong":
                    found = (found[0], found[1], bytes([found[2][0] ^ 1]) + found[2][1:])
                if isinstance(what, str) and what.startswith("late"):
                    found = plain(int(what.split()[1]), "a fault behind the work")
                self.reply(found, cut=what == "cut")

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = run  # noqa: N815

            def reply(self, found: Answer, cut: bool = False) -> None:
                status, headers, data = found
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(data))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data[: len(data) // 2] if cut else data)
                if cut:
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(2)

        return Handler


def is_large(name: str, size: int) -> bool:
    return name.endswith(LARGE_SUFFIXES) or size > LARGE


def plain(status: int, text: str, **headers: str) -> Answer:
    return as_json({"error": text}, status, **headers)


def as_json(value: Any, status: int = 200, **headers: str) -> Answer:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(value).encode()


def missing(code: str) -> Answer:
    return plain(404, code, **{"X-Error-Code": code})


# --- what each address does ----------------------------------------------------------------------------


def validate_yaml(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    asked = json.loads(body)
    errors = card_errors(asked["content"]) if asked["repoType"] == "dataset" else []
    found = [{"message": message} for message in errors]
    return as_json({"errors": found, "warnings": []}, 400 if errors else 200)


def card_errors(text: str) -> list[str]:
    """What the Hub would say about the values at the top of a card."""
    match = re.match(r"---\n(.*?)\n?---\n", text, re.DOTALL)
    try:
        card = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError as error:
        return [f"YAML: {error}"]
    if not isinstance(card, dict):
        return ["the metadata is not a mapping"]
    errors = [f"unknown key {key!r}" for key in card if not re.fullmatch(r"[a-z_0-9]+", str(key))]
    allowed = {"license": LICENSES, "task_categories": TASKS}
    for key, known in allowed.items():
        given = card.get(key, [])
        errors += [
            f'"{key}" must be one of …: {v}' for v in ([given] if isinstance(given, str) else given) if v not in known
        ]
    sizes = card.get("size_categories", [])
    errors += [
        f'"size_categories": {size}' for size in sizes if not re.fullmatch(r"n<1K|n>1T|\d+[KMB]<n<\d+[KMBT]", size)
    ]
    errors += [f'"language": {code}' for code in card.get("language", []) if not re.fullmatch(r"[a-z]{2,3}", code)]
    errors += [f'"tags": {tag}' for tag in card.get("tags", []) if not isinstance(tag, str)]
    for config in card.get("configs", []):
        rows = config.get("data_files")
        whole = isinstance(rows, list) and all(isinstance(r.get("split"), str) and r.get("path") for r in rows)
        errors += [] if whole and isinstance(config.get("config_name"), str) else [f'"configs": {config}']
    infos = card.get("dataset_info", [])
    for info in [infos] if isinstance(infos, dict) else infos:
        features = info.get("features")
        whole = isinstance(features, list) and all(len(f) == 2 and isinstance(f.get("name"), str) for f in features)
        errors += [] if whole else [f'"dataset_info": {info}']
    return errors


def create(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    asked = json.loads(body)
    name = "/".join(filter(None, (asked.get("organization") or "anna", asked["name"])))
    if not trusted:
        return plain(401, "Invalid username or password.")
    url = f"{hub.url}/datasets/{name}"
    if name in hub.repositories:
        return as_json({"error": "You already created this dataset repo", "url": url}, 409)
    private = bool(asked.get("private")) or asked.get("visibility") == "private"
    repository = Repository(private, {})
    repository.add("main", "initial commit", {".gitattributes": Blob(b"*.wav filter=lfs\n", False)})
    hub.repositories[name] = repository
    return as_json({"url": url, "name": name, "id": name})


def whoami(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    return as_json({"type": "user", "name": "anna"}) if trusted else plain(401, "Invalid username or password.")


def info(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    repository = hub.repository(match["name"], trusted)
    if repository is None:
        return missing("RepoNotFound")
    commit = repository.find(match.groupdict().get("revision") or "main")
    if commit is None:
        return missing("RevisionNotFound")
    return as_json({
        "id": match["name"], "sha": commit.oid, "private": repository.private, "tags": [], "downloads": 0, "likes": 0,
        "siblings": [{"rfilename": name} for name in sorted(commit.tree)], "disabled": False, "gated": False,
        "author": match["name"].partition("/")[0], "lastModified": "2026-01-01T00:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
    })  # fmt: skip


def _listed(name: str, blob: Blob) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "file", "path": name, "size": len(blob.data), "oid": blob.oid}
    if blob.large:
        found["lfs"] = {"oid": blob.sha256, "size": len(blob.data), "pointerSize": len(blob.pointer)}
    return found


def _below(tree: dict[str, Blob], above: str, deep: bool) -> list[dict[str, Any]]:
    prefix = f"{above}/" if above else ""
    folders: dict[str, dict[str, Any]] = {}
    files = []
    for name, blob in sorted(tree.items()):
        if not name.startswith(prefix):
            continue
        parts = name[len(prefix) :].split("/")
        for depth in range(1, len(parts)) if deep else range(1, min(len(parts), 2)):
            path = prefix + "/".join(parts[:depth])
            folders[path] = {
                "type": "directory",
                "path": path,
                "size": 0,
                "oid": hashlib.sha1(path.encode()).hexdigest(),
            }
        if deep or len(parts) == 1:
            files.append(_listed(name, blob))
    return [*folders.values(), *files]


def tree(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    repository = hub.repository(match["name"], trusted)
    if repository is None:
        return missing("RepoNotFound")
    commit = repository.find(match["revision"])
    if commit is None:
        return missing("RevisionNotFound")
    found = _below(commit.tree, match["path"] or "", query.get("recursive", ["false"])[0].lower() == "true")
    return as_json(found) if found else missing("EntryNotFound")


def paths_info(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    repository = hub.repository(match["name"], trusted)
    commit = repository.find(match["revision"]) if repository else None
    if commit is None:
        return missing("RevisionNotFound" if repository else "RepoNotFound")
    is_json = "json" in headers.get("Content-Type", "")
    asked = json.loads(body)["paths"] if is_json else parse_qs(body.decode()).get("paths", [])
    every = {item["path"]: item for item in _below(commit.tree, "", True)}
    return as_json([every[path] for path in asked if path in every])


def preupload(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    if not trusted:
        return plain(401, "Invalid username or password.")
    repository = hub.repository(match["name"], trusted)
    if repository is None:
        return missing("RepoNotFound")
    commit = repository.find(match["revision"])
    known = commit.tree if commit else {}

    def mode(file: dict[str, Any]) -> dict[str, Any]:
        blob = known.get(file["path"])
        oid = None if blob is None else blob.sha256 if blob.large else blob.oid
        large = is_large(file["path"], file["size"])
        return {"path": file["path"], "uploadMode": "lfs" if large else "regular", "shouldIgnore": False, "oid": oid}

    return as_json({"files": [mode(file) for file in json.loads(body)["files"]]})


def lfs_batch(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    if not trusted:
        return plain(401, "Invalid username or password.")
    found = []
    for item in json.loads(body)["objects"]:
        there = {} if item["oid"] in hub.large else {
            "actions": {"upload": {"href": f"{hub.url}/lfs/{item['oid']}"}, "verify": {"href": f"{hub.url}/verify"}}
        }  # fmt: skip
        found.append({"oid": item["oid"], "size": item["size"], **there})
    return as_json({"transfer": "basic", "objects": found})


def lfs_put(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    if hashlib.sha256(body).hexdigest() != match["oid"]:
        return plain(400, "wrong hash")
    hub.large[match["oid"]] = body
    return 200, {}, b""


def lfs_verify(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    return as_json({}) if json.loads(body)["oid"] in hub.large else plain(404, "not uploaded")


def commit(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    if hub.between is not None:
        act, hub.between = hub.between, None
        act()
    if not trusted:
        return plain(403, "You don't have the rights to write here")
    repository = hub.repository(match["name"], trusted)
    if repository is None:
        return missing("RepoNotFound")
    head = repository.find(match["revision"])
    if head is None:
        return missing("RevisionNotFound")
    lines = [json.loads(line) for line in body.splitlines()]
    header, files = lines[0]["value"], dict(head.tree)
    if header.get("parentCommit") not in (None, head.oid):
        return plain(412, "The expected parent commit is another one")
    for line in lines[1:]:
        key, value = line["key"], line["value"]
        if key == "file":
            files[value["path"]] = Blob(base64.b64decode(value["content"]), False)
        elif key == "lfsFile" and value["oid"] in hub.large:
            files[value["path"]] = Blob(hub.large[value["oid"]], True)
        elif key == "deletedFile":
            files.pop(value["path"])
        else:
            return plain(400, f"cannot do {key}")
    made = repository.add(match["revision"], header["summary"], files)
    url = f"{hub.url}/datasets/{match['name']}/commit/{made.oid}"
    return as_json({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": ""})


def branch(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    repository = hub.repository(match["name"], trusted)
    if repository is None or not trusted:
        return missing("RepoNotFound")
    if match["branch"] in repository.branches:
        return plain(409, "Reference already exists")
    repository.branches[match["branch"]] = list(repository.branches["main"])
    return as_json({})


def resolve(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    repository = hub.repository(match["name"], trusted)
    if repository is None:
        return missing("RepoNotFound")
    found = repository.find(match["revision"])
    if found is None:
        return missing("RevisionNotFound")
    blob = found.tree.get(match["path"])
    if blob is None:
        return missing("EntryNotFound")
    tag = blob.sha256 if blob.large else blob.oid
    told = {"ETag": f'"{tag}"', "X-Repo-Commit": found.oid, "Accept-Ranges": "bytes", "Content-Type": "text/plain"}
    if blob.large:
        told |= {"X-Linked-Size": str(len(blob.data)), "X-Linked-Etag": f'"{tag}"'}
    if blob.large and hub.xet is not None:
        route = f"/api/datasets/{match['name']}/xet-read-token/{found.oid}"
        told |= {"X-Xet-Hash": blob.sha256, **hub.xet(route)}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range") or "")
    if asked is None:
        return 200, told, blob.data
    start, end = int(asked[1]), min(int(asked[2] or len(blob.data)), len(blob.data) - 1)
    told["Content-Range"] = f"bytes {start}-{end}/{len(blob.data)}"
    return 206, told, blob.data[start : end + 1]


def xet_token(hub: Hub, match: Any, body: bytes, query: Any, trusted: bool, headers: Any) -> Answer:
    told = {"X-Xet-Cas-Url": hub.url, "X-Xet-Access-Token": "xet_short", "X-Xet-Token-Expiration": str(2**31)}
    return (200, told, b"") if hub.repository(match["name"], trusted) else missing("RepoNotFound")


_NAME, _REVISION = r"(?P<name>[\w.-]+/[\w.-]+?)", r"(?P<revision>[\w.-]+)"
ROUTES: tuple[tuple[str, str, Callable[..., Answer]], ...] = (
    ("POST", "/api/validate-yaml", validate_yaml),
    ("POST", "/api/repos/create", create),
    ("GET", "/api/whoami-v2", whoami),
    ("GET", f"/api/datasets/{_NAME}", info),
    ("GET", f"/api/datasets/{_NAME}/revision/{_REVISION}", info),
    ("GET", f"/api/datasets/{_NAME}/tree/{_REVISION}(?:/(?P<path>.+))?", tree),
    ("POST", f"/api/datasets/{_NAME}/paths-info/{_REVISION}", paths_info),
    ("POST", f"/api/datasets/{_NAME}/preupload/{_REVISION}", preupload),
    ("POST", f"/api/datasets/{_NAME}/commit/{_REVISION}", commit),
    ("GET", f"/api/datasets/{_NAME}/xet-read-token/{_REVISION}", xet_token),
    ("POST", f"/api/datasets/{_NAME}/branch/(?P<branch>[\\w.-]+)", branch),
    ("POST", f"/datasets/{_NAME}\\.git/info/lfs/objects/batch", lfs_batch),
    ("PUT", "/lfs/(?P<oid>[0-9a-f]{64})", lfs_put),
    ("POST", "/verify", lfs_verify),
    ("GET", f"/datasets/{_NAME}/resolve/{_REVISION}/(?P<path>.+)", resolve),
)
