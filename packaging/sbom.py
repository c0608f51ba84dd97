"""What a program is built from: every crate of `Cargo.lock` that its build reaches, as a CycloneDX list and with its terms."""

import json
import os
import re
import subprocess
import tomllib
import uuid


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def reached(whole, root):
    """The packages below `root`, without what its tests need, and whether each is in the program or only builds it."""
    nodes = {node["id"]: node for node in whole["resolve"]["nodes"]}
    found, queue = {}, [(root, "required")]
    while queue:
        package, scope = queue.pop()
        if found.get(package) in (scope, "required"):
            continue
        found[package] = scope
        for dependency in nodes[package]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            if None in kinds:
                queue.append((dependency["pkg"], scope))
            elif "build" in kinds:
                queue.append((dependency["pkg"], "excluded"))
    return found


def of_the_tree(whole, crate):
    return next(package for package in whole["packages"] if package["name"] == crate and package["source"] is None)


def folder(crate):
    """The folder of a crate of this repository."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--no-deps"]
    whole = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return os.path.dirname(of_the_tree(whole, crate)["manifest_path"])


def terms(crate, target):
    """The licences and notices of the crates in a program, each text once below the names that it belongs to."""
    whole = metadata(target)
    packages = {package["id"]: package for package in whole["packages"]}
    texts = {}
    for found, scope in reached(whole, of_the_tree(whole, crate)["id"]).items():
        package = packages[found]
        if scope != "required" or package["source"] is None:
            continue
        top = os.path.dirname(package["manifest_path"])
        files = sorted(name for name in os.listdir(top) if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", name))
        name = f"{package['name']} {package['version']} ({package['license']})"
        for file in filter(os.path.isfile, (os.path.join(top, file) for file in files)):
            with open(file, encoding="utf-8", errors="replace") as text:
                texts.setdefault(text.read().strip(), set()).add(name)
        if not files:
            texts.setdefault("Its package has no file with the text of its licence.", set()).add(name)
    parts = sorted((sorted(names), text) for text, names in texts.items())
    return "".join("\n".join(names) + f"\n\n{text}\n\n{'-' * 72}\n" for names, text in parts)


def component(package, scope, checksums):
    name, version = package["name"], package["version"]
    listed = {"type": "library", "bom-ref": package["id"], "name": name, "version": version, "scope": scope}
    if package["license"]:
        listed["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in checksums:
        listed["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
        listed["purl"] = f"pkg:cargo/{name}@{version}"
    return listed


def write(crate, target, moment, path):
    """Writes the list of a crate's program for a target."""
    whole = metadata(target)
    packages = {package["id"]: package for package in whole["packages"]}
    root = of_the_tree(whole, crate)
    with open("Cargo.lock", "rb") as lock:
        locked = tomllib.load(lock)["package"]
    checksums = {(each["name"], each["version"]): each["checksum"] for each in locked if "checksum" in each}
    found = reached(whole, root["id"])
    parts = [component(packages[package], scope, checksums) for package, scope in found.items() if package != root["id"]]
    # An address of this machine is in the id of a package of the work tree.
    names = {package: f"{packages[package]['name']}@{packages[package]['version']}" for package in found}
    for part in parts:
        part["bom-ref"] = names[part["bom-ref"]]
    nodes = {node["id"]: node for node in whole["resolve"]["nodes"]}
    edges = [
        {"ref": names[package], "dependsOn": sorted({names[below] for below in nodes[package]["dependencies"] if below in names})}
        for package in found
    ]
    program = {"type": "application", "bom-ref": names[root["id"]], "name": crate, "version": root["version"]}
    bom = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, '/'.join([names[root['id']], target, moment]))}",
        "metadata": {"timestamp": moment, "component": program},
        "components": sorted(parts, key=lambda part: part["bom-ref"]),
        "dependencies": sorted(edges, key=lambda edge: edge["ref"]),
    }
    with open(path, "w", encoding="utf-8") as out:
        json.dump(bom, out, indent=1)
        out.write("\n")
    return len(parts)
