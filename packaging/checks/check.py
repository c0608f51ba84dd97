"""Uses the packages of a release as their users would, on this machine.

    check.py PACKAGES MCPB

PACKAGES is the folder that `packaging/release` filled, MCPB the command of the bundles' own tool.
"""

import glob
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from jsonschema import Draft7Validator

PACKAGES, MCPB = Path(sys.argv[1]).resolve(), sys.argv[2]
GENERATED = PACKAGES.parent / "packaging"
passed, failed = 0, []


def check(what, sound, why=""):
    global passed
    if sound:
        passed += 1
    else:
        failed.append(what)
        print(f"failed: {what}\n  {why}")


def one(pattern):
    """The only file of that name."""
    found = glob.glob(str(PACKAGES / pattern))
    check(f"there is one {pattern}", len(found) == 1, str(found))
    return found[0]


def messages():
    """What a host sends before it has the list of tools."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}
    yield {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    yield {"jsonrpc": "2.0", "method": "notifications/initialized"}
    yield {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def tools(command, environment):
    """The names of the tools that a server lists. It must end by itself when its stdin ends."""
    sent = "".join(json.dumps(message) + "\n" for message in messages())
    done = subprocess.run(command, input=sent, capture_output=True, text=True, timeout=60, env=environment)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    listed = next((reply["result"]["tools"] for reply in replies if reply.get("id") == 2), [])
    return sorted(tool["name"] for tool in listed), done


def serves(what, command, expected, folder):
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "COLIBRI_DB_PATH": os.path.join(folder, "data", "colibri.db")}
    found, done = tools(command, environment)
    check(f"{what}: lists its tools", found == expected, f"{found}\n  {done.stderr}")
    check(f"{what}: ends with 0", done.returncode == 0, f"{done.returncode}: {done.stderr}")
    told = subprocess.run([*command, "doctor"], capture_output=True, text=True, env=environment).stdout
    check(f"{what}: SQLite is compiled as it was tested", "compiled as it was tested" in told, told)


def registry():
    schema = json.loads((Path(find_spec("skillsaw").origin).parent / "schemas/mcp_registry/v2025_12_11/server.schema.json").read_text())
    entry = json.loads((PACKAGES / "server.json").read_text())
    check("server.json names the schema that it is checked by", entry["$schema"] == schema["$id"])
    errors = [error.message for error in Draft7Validator(schema).iter_errors(entry)]
    check("server.json has the registry's form", not errors, "\n  ".join(errors))
    wrong = Draft7Validator(schema).is_valid({**entry, "description": "x" * 101})
    check("the registry's form refuses a long description", not wrong)
    check("server.json: the publisher's part is small", len(json.dumps(entry["_meta"])) <= 4096)
    lock = subprocess.run(["sha256sum", "catalogue/catalogue.lock.json"], capture_output=True, text=True, check=True).stdout[:64]
    said = entry["_meta"]["io.modelcontextprotocol.registry/publisher-provided"]["catalogue"]["sha256"]
    check("server.json has the catalogue's hash", said == lock, f"{said} and {lock}")
    kinds = [package["registryType"] for package in entry["packages"]]
    check("server.json has each kind of package", {"npm", "pypi", "cargo", "mcpb", "oci"} <= set(kinds), str(kinds))
    return entry


def sums():
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=PACKAGES, capture_output=True, text=True)
    check("SHA256SUMS is right", done.returncode == 0, done.stdout)
    named = {line.split("  ", 1)[1] for line in (PACKAGES / "SHA256SUMS").read_text().splitlines()}
    there = {path.name for path in PACKAGES.iterdir()} - {"SHA256SUMS"}
    check("SHA256SUMS names every file", named == there, str(named ^ there))


def parts():
    for path in sorted(PACKAGES.glob("*.cdx.json")):
        error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(path.read_text())
        check(f"{path.name} has the form of CycloneDX", error is None, str(error))
        bom = json.loads(path.read_text())
        names = {part["name"]: part["scope"] for part in bom["components"]}
        check(f"{path.name} lists what is built in", names.get("serde_json") == "required", str(names.get("serde_json")))
        check(f"{path.name} leaves out what only tests use", "tempfile" not in names)
        check(f"{path.name} has no path of this machine", os.getcwd() not in path.read_text())


def bundle(folder):
    packed = one("*-linux-x64.mcpb")
    unpacked = os.path.join(folder, "bundle")
    for what, *command in (
        ("unpacks", MCPB, "unpack", packed, unpacked),
        ("validates", MCPB, "validate", os.path.join(unpacked, "manifest.json")),
        ("packs again", MCPB, "pack", unpacked, os.path.join(folder, "again.mcpb")),
    ):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        check(f"the bundle {what}", done.returncode == 0, done.stdout + done.stderr)
    manifest = json.loads(Path(unpacked, "manifest.json").read_text())
    program = Path(unpacked, manifest["server"]["entry_point"])
    check("the bundle's program can be run", stat.S_IMODE(program.stat().st_mode) == 0o755, oct(program.stat().st_mode))
    expected = sorted(tool["name"] for tool in manifest["tools"])
    # As a host does: placeholders are filled in.
    home = os.path.join(folder, "home")
    os.makedirs(home)
    config = manifest["server"]["mcp_config"]
    environment = {"PATH": os.environ["PATH"], "HOME": home}
    for name, value in config["env"].items():
        for key, question in manifest["user_config"].items():
            value = value.replace(f"${{user_config.{key}}}", question["default"])
        environment[name] = value.replace("${HOME}", home)
    found, done = tools([config["command"].replace("${__dirname}", unpacked), *config["args"]], environment)
    check("the bundle's server lists its tools", found == expected and done.returncode == 0, done.stderr)
    check("the bundle's database is where its setting says", Path(home, ".local/share/colibri/colibri.db").is_file())
    return expected


def npm(folder, expected, entry):
    for name, command in (("colibri-mcp", "colibri"), ("mcp-drift", "mcp-drift")):
        prefix = os.path.join(folder, name)
        os.makedirs(prefix)
        tarballs = [one(f"{name}-[0-9]*[0-9].tgz"), one(f"{name}-linux-x64-*.tgz")]
        line = ["npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", prefix]
        done = subprocess.run([*line, *tarballs], capture_output=True, text=True)
        check(f"npm installs {name} without the network", done.returncode == 0, done.stderr)
        package = json.loads(Path(prefix, "node_modules", name, "package.json").read_text())
        check(f"the npm package {name} runs no script", "scripts" not in package)
        launcher = os.path.join(prefix, "node_modules/.bin", command)
        version = subprocess.run([launcher, "--version"], capture_output=True, text=True)
        check(f"npm's {command} says its version", version.stdout.split()[-1:] == [package["version"]], version.stdout + version.stderr)
        wrong = subprocess.run([launcher, "--no-such-option"], capture_output=True, text=True)
        check(f"npm's {command} ends with the program's code", wrong.returncode == 2, str(wrong.returncode))
    package = json.loads(Path(folder, "colibri-mcp/node_modules/colibri-mcp/package.json").read_text())
    check("npm's mcpName is the registry's", package["mcpName"] == entry["name"])
    launcher = os.path.join(folder, "colibri-mcp/node_modules/.bin/colibri-mcp")
    serves("npm's launcher", [launcher], expected, folder)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with_launcher, bare = ended([launcher], number, folder), ended([program_of(folder)], number, folder)
        check(f"npm's launcher hands {number.name} on", with_launcher == bare, f"{with_launcher}, without it {bare}")
    of_platform = Path(program_of(folder)).parent.parent / "package.json"
    right = of_platform.read_text()
    of_platform.write_text(json.dumps({**json.loads(right), "version": "0.0.1"}))
    other = subprocess.run([launcher], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check("npm's launcher takes no program of another version", other.returncode == 127 and "has version 0.0.1" in other.stderr, other.stderr)
    of_platform.write_text(right)
    os.remove(program_of(folder))
    gone = subprocess.run([launcher], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check("npm's launcher says what is missing", gone.returncode == 127 and "npm install colibri-mcp-linux-x64@" in gone.stderr, gone.stderr)


def program_of(folder):
    return os.path.join(folder, "colibri-mcp/node_modules/colibri-mcp-linux-x64/bin/colibri")


def ended(command, number, folder):
    """How a server ends by a signal, and that none of its processes stays."""
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "COLIBRI_DB_PATH": os.path.join(folder, "data", "colibri.db")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes) as server:
        server.stdin.write(json.dumps(next(messages())) + "\n")
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(number)
        try:
            code = server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            return "goes on"
        time.sleep(0.2)
        try:
            os.killpg(server.pid, 0)
            return f"{code}, and a process stays"
        except ProcessLookupError:
            return str(code)


def wheel(folder, expected):
    for project, command in (("colibri_mcp", "colibri-mcp"), ("mcp_drift", "mcp-drift")):
        where = os.path.join(folder, f"venv-{project}")
        venv.create(where, with_pip=True)
        line = [os.path.join(where, "bin/pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check"]
        done = subprocess.run([*line, one(f"{project}-*.whl")], capture_output=True, text=True)
        check(f"pip installs {project}", done.returncode == 0, done.stderr)
        done = subprocess.run([os.path.join(where, "bin", command), "--version"], capture_output=True, text=True)
        check(f"the wheel's {command} runs", done.returncode == 0, done.stderr)
        if project == "colibri_mcp":
            serves("the wheel's server", [os.path.join(where, "bin/colibri-mcp")], expected, folder)
            check("the wheel has the manual", Path(where, "share/man/man1/colibri.1").is_file())
            listed = subprocess.run([os.path.join(where, "bin/pip"), "show", "colibri-mcp"], capture_output=True, text=True)
            check("the wheel has its metadata", "License-Expression: MIT OR Apache-2.0" in listed.stdout or "License: " in listed.stdout, listed.stdout)


def texts():
    binstall = tomllib.loads((GENERATED / "colibri/binstall.toml").read_text())["package"]["metadata"]["binstall"]
    stated = tomllib.loads(Path("server/Cargo.toml").read_text())["package"]["metadata"]["binstall"]
    check("server/Cargo.toml has the lines of cargo binstall", stated == binstall, f"{stated} and {binstall}")
    name = json.loads((PACKAGES / "server.json").read_text())["name"]
    check("the crate's page shows its name in the registry", f"`mcp-name: {name}`" in Path("server/README.md").read_text(), name)
    target, version = "x86_64-unknown-linux-gnu", json.loads((GENERATED / "colibri/release.json").read_text())["version"]
    fill = lambda text: text.replace("{ version }", version).replace("{ target }", target).replace("{ bin }", "colibri").replace("{ binary-ext }", "")
    archive = fill(binstall["pkg-url"]).rsplit("/", 1)[1]
    listed = subprocess.run(["tar", "tzf", PACKAGES / archive], capture_output=True, text=True).stdout.splitlines()
    check("cargo binstall's path is in the archive that it names", fill(binstall["bin-dir"]) in listed, str(listed[:3]))
    formula = (PACKAGES / "colibri-mcp.rb").read_text()
    hashes = dict(reversed(line.split("  ", 1)) for line in (PACKAGES / "SHA256SUMS").read_text().splitlines())
    check("the formula has the archive's hash", f'sha256 "{hashes[archive]}"' in formula and archive in formula)
    container = (GENERATED / "colibri/container/Containerfile").read_text()
    for part in ("USER 65532:65532", "VOLUME /data\n", "COLIBRI_DB_PATH=/data/", "io.modelcontextprotocol.server.name"):
        check(f"the Containerfile says {part.strip()}", part in container)


with tempfile.TemporaryDirectory() as work:
    sums()
    found = registry()
    parts()
    texts()
    names = bundle(work)
    check("there are tools", len(names) > 20, str(names))
    npm(work, names, found)
    wheel(work, names)
print(f"{passed} passed, {len(failed)} failed")
sys.exit(1 if failed else 0)
