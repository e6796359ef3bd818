"""How a recipe's system is installed, from options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Final

from cli.workflow.told import Document, Told, Wrong, text_of

# A kickstart may say which options the kernel needs with it, in its first such line.
KERNEL_OPTIONS: Final = "## kernel_options:"
# Quoted: $basearch and the like are for who reads the file on the system, not for its shell.
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
    """Raises `Wrong`."""
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
    """Repositories that need not be there while the system is installed."""
    for url in urls:
        if not url.strip() or not url.isprintable():
            raise Wrong(f"--repo-post {url!r}: must be a URL")
    files = [AFTERWARDS.format(name=f"beaker-postrepo{number}", url=url) for number, url in enumerate(urls)]
    return ["".join(["%post\n", *files, "%end\n"])] if files else []
