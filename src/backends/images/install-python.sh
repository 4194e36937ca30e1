# Installs Python packages into the environment of the image, after install-packages.sh.
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  if command -v apt-get >/dev/null; then install python3 python3-venv; else install python3; fi
fi
[ -x /opt/python/bin/python3 ] || python3 -m venv --system-site-packages /opt/python
/opt/python/bin/python3 -m pip install --no-cache-dir --disable-pip-version-check -- "$@"
