"""The installation of a recipe's system, from options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Final

from cli.workflow.options import Document, InvalidOptions, Options, text_of

# The first such line of a kickstart has the kernel options that it needs.
KERNEL_OPTIONS: Final = "## kernel_options:"
# END is quoted, because $basearch and the like must not be expanded by the shell.
REPO_SNIPPET: Final = """cat > /etc/yum.repos.d/{name}.repo <<'END'
[{name}]
name={name}
baseurl={url}
enabled=1
gpgcheck=0
skip_if_unavailable=1
END
"""


def installing(options: Options) -> Document:
    """Return the parts of a recipe that describe the installation. Raise `InvalidOptions`."""
    kickstart = _kickstart(options["kickstart"]) if options["kickstart"] else ""
    method = options["method"] and f"method={options['method']}"
    return {
        "kernel_options": _joined(options["kernel_options"], _kernel_options(kickstart)),
        "kernel_options_post": options["kernel_options_post"],
        "ks_meta": _joined(method, options["ks_meta"]),
        "kickstart": kickstart,
        "ks_appends": [*options["ks_append"], *_repo_snippets(options["repo_post"])],
        "repos": [{"name": f"myrepo_{number}", "url": url} for number, url in enumerate(options["repo"])],
    }


def _kickstart(file: IO[bytes]) -> str:
    text = text_of("--kickstart", file)
    if not text.strip():
        raise InvalidOptions(f"--kickstart {file.name}: is empty")
    return text


def _kernel_options(kickstart: str) -> str:
    lines = (line for line in kickstart.splitlines() if line.startswith(KERNEL_OPTIONS))
    return next(lines, "").removeprefix(KERNEL_OPTIONS).strip()


def _joined(*options: str | None) -> str:
    return " ".join(filter(None, options))


def _repo_snippets(urls: Sequence[str]) -> list[str]:
    """Return a kickstart snippet that adds repositories after the installation."""
    for url in urls:
        if not url.strip() or not url.isprintable():
            raise InvalidOptions(f"--repo-post {url!r}: must be a URL")
    files = [REPO_SNIPPET.format(name=f"beaker-postrepo{number}", url=url) for number, url in enumerate(urls)]
    return ["".join(["%post\n", *files, "%end\n"])] if files else []
