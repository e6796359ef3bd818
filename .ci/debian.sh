# A function for the scripts of this folder; source it after script/venv.sh, in the top of the checkout.

# Unpack Debian packages into the folder build/NAME: unpack_debian NAME PACKAGE...
unpack_debian() {
    local name=$1 folder package
    shift
    mkdir -p -- build
    folder=$(mktemp -d "build/$name.XXXXXX")
    # shellcheck disable=SC2064  # the folder of now
    trap "rm -rf -- '$folder'" EXIT
    # A new machine has no package lists yet; only root can download them.
    download_debian "$folder" "$@" 2>/dev/null || { apt-get -qq update && download_debian "$folder" "$@"; } ||
        fail "$name is not there, and its packages cannot be downloaded: $*"
    for package in "$folder"/*.deb; do
        dpkg -x "$package" "$folder/all"
    done
    rm -rf -- "build/$name"
    mv -- "$folder/all" "build/$name"
}

# apt downloads as a user of its own, who cannot write to this folder: download as the caller instead.
download_debian() {
    local folder=$1
    shift
    (cd -- "$folder" && apt-get -qq -o APT::Sandbox::User=root download "$@")
}
