"""The installation of a recipe's system, from options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Final

from cli.workflow.told import Document, Told, Wrong, text_of

# The first such line of a kickstart has the kernel options that it needs.
KERNEL_OPTIONS: Final = "## kernel_options:"
# END is quoted, because $basearch and the like must not be expanded by the shell.
AFTERWARDS: Final = """cat > /etc/yum.repos.d/{name}.repo <<'END'
[{name}]
name={name}
baseurl={url}
enabled=1
gpgcheck=0
skip_if_unavailable=1
END
"""


def installing(told: Told) -> Document:
    """Return the parts of a recipe that describe the installation. Raise `Wrong`."""
    kickstart = _kickstart(told["kickstart"]) if told["kickstart"] else ""
    method = told["method"] and f"method={told['method']}"
    return {
        "kernel_options": _joined(told["kernel_options"], _kernel_options(kickstart)),
        "kernel_options_post": told["kernel_options_post"],
        "ks_meta": _joined(method, told["ks_meta"]),
        "kickstart": kickstart,
        "ks_appends": [*told["ks_append"], *_afterwards(told["repo_post"])],
        "repos": [{"name": f"myrepo_{number}", "url": url} for number, url in enumerate(told["repo"])],
    }


def _kickstart(file: IO[bytes]) -> str:
    text = text_of("--kickstart", file)
    if not text.strip():
        raise Wrong(f"--kickstart {file.name}: is empty")
    return text


def _kernel_options(kickstart: str) -> str:
    said = (line for line in kickstart.splitlines() if line.startswith(KERNEL_OPTIONS))
    return next(said, "").removeprefix(KERNEL_OPTIONS).strip()


def _joined(*options: str | None) -> str:
    return " ".join(filter(None, options))


def _afterwards(urls: Sequence[str]) -> list[str]:
    """Return a kickstart snippet that adds repositories after the installation."""
    for url in urls:
        if not url.strip() or not url.isprintable():
            raise Wrong(f"--repo-post {url!r}: must be a URL")
    files = [AFTERWARDS.format(name=f"beaker-postrepo{number}", url=url) for number, url in enumerate(urls)]
    return ["".join(["%post\n", *files, "%end\n"])] if files else []
