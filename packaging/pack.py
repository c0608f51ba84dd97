"""Puts packages together from the files that `colibri-codegen package` wrote and the programs that `packaging/build` built.

    pack.py GENERATED PROGRAMS OUT

GENERATED is the folder with release.json, PROGRAMS has a folder with programs for each target, and OUT takes what is published. A target
without programs is left out. SOURCE_DATE_EPOCH is the time of everything.
"""

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone

import archives
import sbom

LICENCES = ["LICENSE-MIT", "LICENSE-APACHE"]
# The terms of the crates that a program is built from, and how they ask to be named.
OTHERS = "THIRD-PARTY-LICENSES.txt"
SHELLS = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish"}


class Pack:
    def __init__(self, generated, programs, out):
        self.generated, self.programs, self.out = generated, programs, out
        with open(os.path.join(generated, "release.json"), encoding="utf-8") as file:
            self.release = json.load(file)
        self.name, self.command = self.release["name"], self.release["command"]
        self.version = self.release["version"]
        built = (platform for platform in self.release["platforms"] if os.path.isfile(self.program(platform)))
        self.platforms = list(built)
        if not self.platforms:
            sys.exit(f"pack.py: {programs} has no program {self.command} for any target; packaging/build builds it")
        self.others = {}
        self.work = tempfile.mkdtemp(prefix="pack-")
        os.makedirs(out, exist_ok=True)

    def program(self, platform):
        return os.path.join(self.programs, platform["target"], self.command)

    def folder(self, *parts):
        path = os.path.join(self.work, *parts)
        os.makedirs(path, exist_ok=True)
        return path

    def put(self, source, *parts, mode=0o644):
        """Copies a file into a folder that is being made."""
        path = os.path.join(self.folder(*parts[:-1]), parts[-1])
        shutil.copyfile(source, path)
        os.chmod(path, mode)

    def put_text(self, text, *parts, mode=0o644):
        path = os.path.join(self.folder(*parts[:-1]), parts[-1])
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def text(self, *parts):
        with open(os.path.join(self.generated, *parts), encoding="utf-8") as file:
            return file.read()

    def manuals(self):
        """Manual pages and completions, written by the program of this machine."""
        if not self.release["manuals"]:
            return
        host = next(line[6:] for line in run("rustc", "-vV").splitlines() if line.startswith("host: "))
        program = os.path.abspath(os.path.join(self.programs, host, self.command))
        if not os.path.isfile(program):
            sys.exit(f"pack.py: {program} is missing; it writes the manual pages: packaging/build")
        run(program, "man", os.path.join(self.work, "man"))
        for shell, file in SHELLS.items():
            self.put_text(run(program, "completions", shell), "completions", file.format(self.command))

    def put_licences(self, platform, *parts):
        for licence in LICENCES:
            self.put(licence, *parts, licence)
        if platform:
            self.put_text(self.terms(platform), *parts, OTHERS)

    def terms(self, platform):
        target = platform["target"]
        if target not in self.others:
            self.others[target] = sbom.terms(self.release["crate"], target)
        return self.others[target]

    def put_manuals(self, *parts):
        for kind in ("man", "completions"):
            if self.release["manuals"]:
                shutil.copytree(os.path.join(self.work, kind), os.path.join(self.folder(*parts), kind))

    def archive(self, platform):
        name = platform["archive"].removesuffix(".tar.gz")
        self.put(self.program(platform), name, self.command, mode=0o755)
        self.put_licences(platform, name)
        self.put(os.path.join(sbom.folder(self.release["crate"]), "README.md"), name, "README.md")
        self.put_manuals(name)
        archives.tar_gz(self.folder(name), os.path.join(self.out, platform["archive"]))

    def npm(self):
        names = {self.name: None} | {f"{self.name}-{platform['id']}": platform for platform in self.platforms}
        for name, platform in names.items():
            folder = self.folder("npm", name)
            shutil.copytree(os.path.join(self.generated, "npm", name), folder, dirs_exist_ok=True)
            self.put_licences(platform, "npm", name)
            if platform:
                self.put(self.program(platform), "npm", name, "bin", self.command, mode=0o755)
            else:
                self.put_manuals("npm", name)
                self.name_manuals(folder)
            run("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", os.path.abspath(self.out), folder)

    def name_manuals(self, folder):
        """npm puts those pages in place that a package names one by one."""
        if self.release["manuals"]:
            path = os.path.join(folder, "package.json")
            with open(path, encoding="utf-8") as file:
                package = json.load(file)
            package["man"] = [f"./man/{page}" for page in sorted(os.listdir(os.path.join(folder, "man")))]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(package, file, indent=2)
                file.write("\n")

    def wheel(self, platform):
        """A wheel is a zip file whose last entry lists the hashes of all others (PEP 427)."""
        project = self.name.replace("-", "_")
        stem, info = f"{project}-{self.version}", f"{project}-{self.version}.dist-info"
        top = f"wheel-{platform['id']}"
        scripts = [top, f"{stem}.data", "scripts"]
        self.put(self.program(platform), *scripts, self.command, mode=0o755)
        if self.name != self.command:
            self.put_text(self.text("wheel", self.name), *scripts, self.name, mode=0o755)
        if self.release["manuals"]:
            share = [top, f"{stem}.data", "data", "share"]
            for page in os.listdir(os.path.join(self.work, "man")):
                self.put(os.path.join(self.work, "man", page), *share, "man", "man1", page)
            self.put_completions(*share)
        tags = self.text("wheel", platform["id"], "WHEEL")
        self.put_text(self.text("wheel", "METADATA"), top, info, "METADATA")
        self.put_text(tags, top, info, "WHEEL")
        self.put_licences(platform, top, info, "licenses")
        folder, lines = self.folder(top), []
        for name in archives.files(folder):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
        record = f"{info}/RECORD"
        self.put_text("".join(lines) + f"{record},,\n", top, info, "RECORD")
        tag = ".".join(line.removeprefix("Tag: py3-none-") for line in tags.splitlines() if line.startswith("Tag: "))
        archives.zipped(folder, os.path.join(self.out, f"{stem}-py3-none-{tag}.whl"), last=record)

    def put_completions(self, *share):
        """Completions where the shells of a system look for them."""
        source = os.path.join(self.work, "completions")
        command = self.command
        self.put(os.path.join(source, f"{command}.bash"), *share, "bash-completion", "completions", command)
        self.put(os.path.join(source, f"_{command}"), *share, "zsh", "vendor-completions", f"_{command}")
        self.put(os.path.join(source, f"{command}.fish"), *share, "fish", "vendor_completions.d", f"{command}.fish")

    def deb(self, platform):
        control = self.text("deb", platform["id"], "control")
        fields = dict(line.split(": ", 1) for line in control.splitlines() if ": " in line and line[0] != " ")
        top = f"deb-{platform['id']}"
        share, doc = [top, "usr", "share"], [top, "usr", "share", "doc", self.name]
        self.put(self.program(platform), top, "usr", "bin", self.command, mode=0o755)
        if self.release["manuals"]:
            for page in os.listdir(os.path.join(self.work, "man")):
                self.put_packed(os.path.join(self.work, "man", page), *share, "man", "man1", page + ".gz")
            self.put_completions(*share)
        with open("LICENSE-MIT", encoding="utf-8") as file:
            terms = file.read()
        apache_text = "The text of the Apache License, Version 2.0 is in /usr/share/common-licenses/Apache-2.0.\n"
        self.put_text(f"{self.text('deb', 'copyright')}\nMIT:\n\n{terms}\n\n{apache_text}", *doc, "copyright")
        self.put_text(self.terms(platform), OTHERS)
        self.put_packed(os.path.join(self.work, OTHERS), *doc, OTHERS + ".gz")
        day = datetime.fromtimestamp(archives.moment(), timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
        news = f"{self.name} ({fields['Version']}) unstable; urgency=medium\n\n  * Release {self.version}.\n\n -- {fields['Maintainer']}  {day}\n"
        self.put_text(news, "changelog")
        self.put_packed(os.path.join(self.work, "changelog"), *doc, "changelog.Debian.gz")
        folder = self.folder(top)
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in archives.files(folder))
        head, description = control.split("Description: ", 1)
        sized = f"{head}Installed-Size: {(size + 1023) // 1024}\nDescription: {description}"
        lines = []
        for name in archives.files(folder):
            with open(os.path.join(folder, name), "rb") as file:
                lines.append(f"{hashlib.md5(file.read()).hexdigest()}  {name}\n")
        self.put_text("".join(lines), top, "DEBIAN", "md5sums")
        self.put_text(sized, top, "DEBIAN", "control")
        for path, _, _ in os.walk(folder):
            os.chmod(path, 0o755)
        target = os.path.join(self.out, f"{self.name}_{fields['Version']}_{platform['deb']}.deb")
        run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, target)

    def put_packed(self, source, *parts):
        with open(source, "rb") as file:
            content = file.read()
        with open(os.path.join(self.folder(*parts[:-1]), parts[-1]), "wb") as out:
            with gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
                packed.write(content)

    def mcpb(self, platform):
        top = f"mcpb-{platform['id']}"
        self.put(os.path.join(self.generated, "mcpb", platform["id"], "manifest.json"), top, "manifest.json")
        self.put(self.program(platform), top, "server", self.command, mode=0o755)
        self.put("packaging/icon.png", top, "icon.png")
        self.put_licences(platform, top)
        archives.zipped(self.folder(top), os.path.join(self.out, platform["bundle"]))

    def container(self):
        self.put(os.path.join(self.generated, "container", "Containerfile"), "container", "Containerfile")
        self.put_licences(self.platforms[0], "container")
        for platform in self.platforms:
            if platform["deb"]:
                self.put(self.program(platform), "container", f"program-{platform['deb']}", mode=0o755)
        name = f"{self.name}-{self.version}-container"
        os.rename(self.folder("container"), os.path.join(self.work, name))
        archives.tar_gz(os.path.join(self.work, name), os.path.join(self.out, f"{name}.tar.gz"))

    def all(self):
        forms = self.release["forms"]
        self.manuals()
        for platform in self.platforms:
            self.archive(platform)
            for form, build in (("wheel", self.wheel), ("mcpb", self.mcpb)):
                if form in forms:
                    build(platform)
            if "deb" in forms and platform["deb"]:
                self.deb(platform)
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(archives.moment()))
            path = os.path.join(self.out, f"{self.name}-{self.version}-{platform['target']}.cdx.json")
            sbom.write(self.release["crate"], platform["target"], moment, path)
        if "npm" in forms:
            self.npm()
        if "container" in forms:
            self.container()
        shutil.rmtree(self.work)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"pack.py: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


os.umask(0o022)
Pack(*sys.argv[1:4]).all()
