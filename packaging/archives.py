"""Archives whose bytes depend on their content alone: sorted names, one time, no owner."""

import gzip
import io
import os
import tarfile
import time
import zipfile


def moment():
    """The time of every entry: that of the commit."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def files(folder):
    """Every file below a folder, as names with `/`, sorted."""
    found = (os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)
    return sorted(os.path.relpath(path, folder).replace(os.sep, "/") for path in found)


def mode(path):
    return 0o755 if os.access(path, os.X_OK) else 0o644


def tar_gz(folder, archive):
    """A folder, with its own name as the first part of each name in the archive."""
    top = os.path.basename(folder)
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in files(folder):
            path = os.path.join(folder, name)
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode, entry.mtime = os.path.getsize(path), mode(path), moment()
            with open(path, "rb") as file:
                tar.addfile(entry, file)
    with open(archive, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=moment()) as packed:
        packed.write(plain.getvalue())


def zipped(folder, archive, last=None):
    """The content of a folder; the file `last` at the end, as wheels have it."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in sorted(files(folder), key=lambda name: (name == last, name)):
            path = os.path.join(folder, name)
            entry = zipfile.ZipInfo(name, time.gmtime(max(moment(), 315532800))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode(path)) << 16
            with open(path, "rb") as file:
                out.writestr(entry, file.read())
