# How each step installs packages of the system. A step that cannot work on this base ends with 87, which
# install-steps.ts knows; its last line says why.
fail() { echo "$1" >&2; exit 87; }
install() {
  if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y --no-install-recommends -- "$@" && rm -rf /var/lib/apt/lists/*
  elif command -v dnf >/dev/null; then
    dnf install -y --setopt=install_weak_deps=False -- "$@" && dnf clean all
  elif command -v microdnf >/dev/null; then
    microdnf install -y -- "$@" && microdnf clean all
  elif command -v yum >/dev/null; then
    yum install -y -- "$@" && yum clean all
  elif command -v zypper >/dev/null; then
    zypper --non-interactive install --no-recommends -- "$@" && zypper clean --all
  elif command -v apk >/dev/null; then
    apk add --no-cache -- "$@"
  else
    fail 'The base has no package manager that is known: apt-get, dnf, microdnf, yum, zypper or apk. Take one that has, or one that holds what is asked for.'
  fi
}
