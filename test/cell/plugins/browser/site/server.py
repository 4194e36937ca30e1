"""Serves the pages of the browser tests from inside a cell, and those that behave badly. Prints its port."""
import http.server
import os
import threading
import urllib.parse

hits = {}


class Pages(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        hits[url.path] = hits.get(url.path, 0) + 1
        if url.path == "/endless":
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self.chunk("<title>endless</title><p>begun</p><button>stay</button>" + " " * 4096)
            threading.Event().wait()
        elif url.path == "/never":
            threading.Event().wait()
        elif url.path == "/redirect":
            self.answer("", "text/plain", 302, {"location": query["to"]})
        elif url.path == "/hits":
            self.answer(str(hits.get(query["of"], 0)), "text/plain")
        elif url.path == "/download":
            self.answer("downloaded", "text/plain", 200, {"content-disposition": f'attachment; filename="{query["name"]}"'})
        elif url.path == "/large":
            self.answer("x" * 3_000_000, "application/zip", 200, {"content-disposition": "attachment; filename=large.zip"})
        elif url.path.startswith("/api"):
            self.answer('{"answer": "from the api"}', "application/json")
        else:
            super().do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode("utf-8", "replace")
        self.answer(f"<title>received</title><pre>{body.replace('<', '&lt;')}</pre>", "text/html")

    def answer(self, text, kind, status=200, headers={}):
        body = text.encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, text):
        self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())
        self.wfile.flush()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
server.daemon_threads = True
if os.fork():
    print(server.server_port, flush=True)
    os._exit(0)
os.setsid()
for descriptor in (0, 1, 2):
    os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
server.serve_forever()
