/**
 * Commands that install what a spec asks for, one for each layer. What the spec says is given to them as arguments, so
 * that no word of it is ever part of their source.
 */
import type { CheckedSpec } from './spec.js';

export const pythonHome = '/opt/python';

/** How a step ends that cannot work on this base; its last line says why. */
export const unsuitable = 87;

const definitions = `
fail() { echo "$1" >&2; exit ${unsuitable}; }
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
}`;

const systemStep = `${definitions}
install "$@"`;

const pythonStep = `${definitions}
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  if command -v apt-get >/dev/null; then install python3 python3-venv; else install python3; fi
fi
[ -x ${pythonHome}/bin/python3 ] || python3 -m venv --system-site-packages ${pythonHome}
${pythonHome}/bin/python3 -m pip install --no-cache-dir --disable-pip-version-check -- "$@"`;

/** Bases come without package lists; who writes `apt-get install` expects them. */
const extraStep = `
case "$1" in *apt*)
  if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update || true
    trap 'rm -rf /var/lib/apt/lists/*' EXIT
  fi
esac
sh -ec "$1"`;

/** Each as the source of a shell program and its arguments. */
export function installSteps(spec: CheckedSpec): string[][] {
  const { systemPackages, pythonPackages, extraDeps = '' } = spec;
  const steps: string[][] = [];
  if (systemPackages.length > 0) steps.push([systemStep, ...systemPackages]);
  if (pythonPackages.length > 0) steps.push([pythonStep, ...pythonPackages]);
  if (extraDeps.trim() !== '') steps.push([extraStep, extraDeps]);
  return steps;
}
