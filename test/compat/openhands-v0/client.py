"""Talks to a server the way the client of OpenHands 0.62 does, with the standard library only.

Usage: client.py <url> <key> <directory>. Prints one JSON object with what it got.
"""
import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile

url, key, directory = sys.argv[1:]


def send(method, path, body=None, content_type="application/json", timeout=30):
    headers = {"X-Session-API-Key": key}
    if body is not None:
        headers["Content-Type"] = content_type
    request = urllib.request.Request(url + path, data=body, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return response.read()


# What the strict reader of the client accepts in `extras`.
KNOWN = {
    "run": {"command", "metadata", "hidden"},
    "read": {"path", "impl_source"},
    "write": {"path"},
    "edit": {"path", "prev_exist", "old_content", "new_content", "impl_source", "diff", "_diff_cache"},
    "error": {"error_id"},
}


def act(action, timeout=120.0, **args):
    event = {"action": action, "args": args, "timeout": timeout, "message": "from the client"}
    body = json.dumps({"action": event}).encode()
    observation = json.loads(send("POST", "/execute_action", body, timeout=timeout + 5))
    unknown = set(observation["extras"]) - KNOWN[observation["observation"]]
    assert not unknown, unknown
    assert isinstance(observation["content"], str)
    return observation


def run(command, **args):
    defaults = dict(is_input=False, thought="", blocking=False, is_static=False, cwd=None, hidden=False,
                    confirmation_state="confirmed", security_risk=-1)
    return act("run", command=command, **{**defaults, **args})


def copy_to(source, destination, recursive):
    name, data = os.path.basename(source), None
    if recursive:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for root, _, files in os.walk(source):
                for file in files:
                    path = os.path.join(root, file)
                    archive.write(path, os.path.relpath(path, os.path.dirname(source)))
        name, data = name + ".zip", packed.getvalue()
    else:
        with open(source, "rb") as file:
            data = file.read()
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + data + f"\r\n--{boundary}--\r\n".encode()
    query = urllib.parse.urlencode({"destination": destination, "recursive": str(recursive).lower()})
    return json.loads(send("POST", "/upload_file?" + query, body, f"multipart/form-data; boundary={boundary}"))


def copy_from(path):
    data = send("GET", "/download_files?" + urllib.parse.urlencode({"path": path}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in sorted(archive.namelist())}


assert json.loads(send("GET", "/alive")) == {"status": "ok"}
result = {}
# Start-up: variables, then the git identity.
result["env"] = run('export GREETING="hi there"; export OTHER="1"')["extras"]["metadata"]["exit_code"]
result["bashrc"] = run("grep -q NOTHING /dev/null || true")["success"]
result["git"] = run("git config --file identity user.name openhands && cat identity")["content"].split()
result["greeting"] = run("echo $GREETING")["content"]
act("write", path=directory + "/script.py", content="print(6 * 7)")
result["script"] = run("python3 script.py")["content"]
edited = act("edit", path=directory + "/script.py", command="str_replace", old_str="6 * 7", new_str="7 * 7",
             impl_source="oh_aci")
result["diff"] = edited["extras"]["diff"].splitlines()[2:]
result["view"] = act("read", path=directory + "/script.py", impl_source="oh_aci", view_range=[1, 1])["content"]
os.makedirs(directory + "-host/inner", exist_ok=True)
for name in ("top.txt", "inner/below.txt"):
    with open(f"{directory}-host/{name}", "w") as file:
        file.write(name)
copy_to(directory + "-host", directory + "/copied", True)
copy_to(directory + "-host/top.txt", directory + "/single", False)
listed = json.loads(send("POST", "/list_files", json.dumps({"path": directory}).encode()))
result["listed"] = listed
result["downloaded"] = copy_from(directory + "/copied")
result["token"] = json.loads(send("GET", "/vscode/connection_token"))["token"]
mcp = json.loads(send("POST", "/update_mcp_server", json.dumps([]).encode()))
result["mcp"] = sorted(mcp)
try:
    key = "wrong"
    send("POST", "/list_files", b"{}")
except urllib.error.HTTPError as error:
    result["refused"] = [error.code, json.loads(error.read())]
print(json.dumps(result))
