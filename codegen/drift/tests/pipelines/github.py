"""What GitHub and npm's registry do for a pipeline, on this machine: for the test beside this file.

    github.py serve PORT_FILE PACKAGES REGISTRY COMMENTS    answers of npm's registry and of the API; COMMENTS is the file of a pull request's
    github.py run WORKFLOW URL NUMBER WORK                  the steps of a workflow, as a runner takes them for a pull request

A workflow or an action that uses more than is known here is refused: what passes here must mean the same there.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "team/server"
# Which of them may write comments is what the permissions of a workflow say.
TOKENS = {"token-that-writes": True, "token-that-reads": False}


class Services(BaseHTTPRequestHandler):
    """A registry with the packages of a folder, which sends for others to the usual one; `/api` has the comments of pull request 7."""

    packages, published, registry, comments = None, {}, None, None

    def reply(self, status, body, kind="application/json"):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        path = urlsplit(self.path)
        if not path.path.startswith("/api/"):
            return self.package(path.path.removeprefix("/"))
        query = parse_qs(path.query)
        size, page = int(query["per_page"][0]), int(query["page"][0])
        self.about_comments(path.path, "/issues/7/comments", lambda comments, _: (200, comments[size * (page - 1) : size * page]))

    def do_POST(self):
        def add(comments, body):
            comments.append({"id": 1000 + len(comments), "body": body})
            return 201, comments[-1]

        self.about_comments(self.path, "/issues/7/comments", add)

    def do_PATCH(self):
        def change(comments, body):
            found = [comment for comment in comments if self.path.endswith(f"/{comment['id']}")]
            if not found:
                return 404, {"message": "Not Found"}
            found[0]["body"] = body
            return 200, found[0]

        self.about_comments(self.path, r"/issues/comments/\d+", change)

    def about_comments(self, path, place, answer):
        writes = self.command != "GET"
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not re.fullmatch(f"/api/repos/{REPOSITORY}{place}", path):
            return self.reply(404, {"message": "Not Found"})
        if token not in TOKENS or (writes and not TOKENS[token]):
            return self.reply(403, {"message": "Resource not accessible by integration"})
        comments = json.loads(self.comments.read_text())
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"] if writes else None
        status, said = answer(comments, body)
        self.comments.write_text(json.dumps(comments, indent=1))
        self.reply(status, said)

    def package(self, name):
        """What a registry says of a package: its package.json in each version, with the address and the hash of the file."""
        if name.startswith("files/"):
            return self.reply(200, (self.packages / name.removeprefix("files/")).read_bytes(), "application/octet-stream")
        if name in self.published:
            about, file, digest = self.published[name]
            about["dist"] = {"tarball": f"http://{self.headers['Host']}/files/{file}", "integrity": digest}
            return self.reply(200, {"name": name, "dist-tags": {"latest": about["version"]}, "versions": {about["version"]: about}})
        if name.startswith("mcp-drift"):
            return self.reply(404, {"error": "Not found"})
        self.send_response(302)
        self.send_header("Location", self.registry + name)
        self.end_headers()

    def log_message(self, *_):
        pass


def serve(port_file, packages, registry, comments):
    Services.packages, Services.registry, Services.comments = Path(packages), registry.rstrip("/") + "/", Path(comments)
    for file in Services.packages.glob("*.tgz"):
        with tarfile.open(file) as archive:
            about = json.load(archive.extractfile("package/package.json"))
        digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
        Services.published[about["name"]] = about, file.name, f"sha512-{digest}"
    server = HTTPServer(("127.0.0.1", 0), Services)
    Path(f"{port_file}.new").write_text(str(server.server_port))
    os.rename(f"{port_file}.new", port_file)
    server.serve_forever()


def known(entry, keys, where):
    if strange := set(entry) - set(keys):
        sys.exit(f"{where}: {', '.join(map(str, strange))} is unknown to this runner")


def evaluated(text, values):
    """A text with its expressions replaced."""

    def value(match):
        if match[1] not in values:
            sys.exit(f"the expression {match[0]} is unknown to this runner")
        return values[match[1]]

    return re.sub(r"\$\{\{ *(.*?) *\}\}", value, str(text))


def bash(script, env, work):
    file = work / "step.sh"
    file.write_text(script)
    print(f"> {script.strip()}", flush=True)
    status = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", file], env=env, stdin=subprocess.DEVNULL).returncode
    if status:
        print(f"Error: Process completed with exit code {status}.", flush=True)
        sys.exit(status)


def act(step, values, env, work):
    """The steps of this repository's action, at the tag that a step names."""
    import yaml

    name, tag = step["uses"].split("@")
    path = work / "actions" / f"{name.replace('/', '-')}-{tag}"
    if not path.exists():
        clone = ["git", "clone", "--quiet", "--depth=1", "--branch", tag, f"https://github.com/{name}", path]
        subprocess.run(clone, check=True, stderr=subprocess.DEVNULL)
    action = yaml.safe_load((path / "action.yml").read_text())
    known(action, ["name", "description", "inputs", "runs"], "action.yml")
    known(step.get("with", {}), action["inputs"], name)
    known(action["runs"], ["using", "steps"], "action.yml: runs")
    for key, about in action["inputs"].items():
        known(about, ["description", "required", "default"], key)
        given = step.get("with", {}).get(key, about.get("default", ""))
        values[f"inputs.{key}"] = evaluated(given, values)
    env = env | {"GITHUB_ACTION_PATH": str(path)}
    for inner in action["runs"]["steps"]:
        known(inner, ["name", "shell", "run", "env"], "action.yml: step")
        assert inner["shell"] == "bash"
        given = {key: evaluated(text, values) for key, text in inner.get("env", {}).items()}
        bash(evaluated(inner["run"], values), env | given, work)


def run(workflow, url, number, work):
    import yaml

    work = Path(work)
    (work / "event.json").write_text(json.dumps({"pull_request": {"number": int(number)}}))
    workflow = yaml.safe_load(Path(workflow).read_text())
    # YAML reads the key `on` as a truth value.
    known(workflow, ["name", True, "permissions", "jobs"], "workflow")
    assert "pull_request" in workflow[True]
    writes = workflow.get("permissions", {}).get("pull-requests") == "write" and "FORK" not in os.environ
    values = {"github.token": next(token for token, may in TOKENS.items() if may == writes)}
    (job,) = workflow["jobs"].values()
    known(job, ["runs-on", "steps"], "job")
    env = os.environ | {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": f"{url}/api",
        "GITHUB_EVENT_PATH": str(work / "event.json"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "1",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_STEP_SUMMARY": str(work / "summary.md"),
        "RUNNER_TEMP": str(work / "runner"),
    }
    os.makedirs(env["RUNNER_TEMP"], exist_ok=True)
    for step in job["steps"]:
        known(step, ["name", "uses", "with", "run"], "step")
        if "run" in step:
            bash(step["run"], env, work)
        elif step["uses"].startswith("colibri-mcp/colibri@"):
            act(step, values, env, work)
        elif step["uses"].startswith(("actions/checkout@", "actions/setup-")):
            print(f"> {step['uses']}: this machine has it already", flush=True)
        else:
            sys.exit(f"{step['uses']} is unknown to this runner")


{"serve": serve, "run": run}[sys.argv[1]](*sys.argv[2:])
