"""Tests of sinew studio: requests that its server answers or refuses, over plain sockets."""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import figures
import foreign
import make
import png
import support


class StudioCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)
        page = self.at / "page"
        (page / "assets").mkdir(parents=True)
        (page / "index.html").write_text("<p>here</p>")
        (page / "assets" / "core.wasm").write_bytes(b"\0asm")
        (self.at / "secret.txt").write_text("not yours")
        self.page = page
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(10)
            self.process.stdout.close()
            self.process.stderr.close()

    def start(self, *args, environment=None, opens=False, limit=None):
        self.process = subprocess.Popen(
            [support.SINEW, "studio", *([] if opens else ["--no-open"]), "--page", self.page, *args], env=environment,
            preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        line = self.process.stdout.readline()
        found = re.match(r"sinew studio is at http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/(\S*)$", line)
        self.assertTrue(found, line or "the program ended")
        self.port, self.secret, self.query = int(found[1]), found[2], found[3]

    def send(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            out = b""
            while chunk := s.recv(65536):
                out += chunk
        head, _, body = out.partition(b"\r\n\r\n")
        return head.decode(), body

    def get(self, path, method="GET", host=None):
        host = f"127.0.0.1:{self.port}" if host is None else host
        return self.send(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    def status(self, *args, **named):
        head, body = self.get(*args, **named)
        return int(head.split()[1]), body


class Studio(StudioCase):
    def test_serves_the_page_only(self):
        self.start()
        root = f"/{self.secret}/"
        self.assertEqual(self.status(root), (200, b"<p>here</p>"))
        self.assertEqual(self.status(root + "?open=x"), (200, b"<p>here</p>"))
        self.assertEqual(self.status(root + "assets/core.wasm"), (200, b"\0asm"))
        self.assertEqual(self.status(root + "assets%2Fcore.wasm"), (200, b"\0asm"))
        for path in ("/", "/index.html", "/" + "0" * 32 + "/", root + "../secret.txt", root + "..%2fsecret.txt",
                     root + "/etc/passwd", root + "assets/", root + "assets", root + "open/hero.glb"):
            self.assertEqual(self.status(path), (404, b""), path)
        self.assertEqual(self.status(root + "%zz")[0], 400)

    def test_the_secret_is_on_no_command_line(self):
        programs, seen = self.at / "programs", self.at / "seen"
        programs.mkdir()
        opener = programs / "xdg-open"
        # Written under another name first, so that it is there as a whole.
        opener.write_text(f'#!/bin/sh\nstat -c "%a" "$1" > {seen}.part\necho "$@" >> {seen}.part\ncat "$1" >> {seen}.part\n'
                          f'mv {seen}.part {seen}\n')
        opener.chmod(0o755)
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(self.at)}
        self.start(environment=environment, opens=True)
        while not seen.exists():
            self.assertIsNone(self.process.poll())
            time.sleep(0.01)
        mode, command, *page = seen.read_text().splitlines()
        self.assertEqual(mode, "600")
        self.assertNotIn(self.secret, command)
        self.assertNotIn(str(self.port), command)
        self.assertIn(f"url=http://127.0.0.1:{self.port}/{self.secret}/", "\n".join(page))
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.assertEqual([f for f in os.listdir(self.at) if f.startswith("sinew-studio")], [])

    def test_slow_connections_do_not_block_others(self):
        self.start()
        slow = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(64)]
        try:
            for s in slow:
                s.sendall(b"G")
            # Each is closed after its deadline, though a byte comes in now and then.
            done = set()
            end = time.monotonic() + 100  # 20 times the deadline
            while len(done) < len(slow):
                self.assertLess(time.monotonic(), end, f"{len(slow) - len(done)} are still open")
                for s in set(slow) - done:
                    try:
                        s.sendall(b"E")
                    except OSError:
                        done.add(s)
                time.sleep(0.2)
        finally:
            for s in slow:
                s.close()
        self.assertEqual(self.status(f"/{self.secret}/"), (200, b"<p>here</p>"))

    def test_headers_restrict_the_page(self):
        self.start()
        head, body = self.get(f"/{self.secret}/assets/core.wasm", method="HEAD")
        self.assertEqual(body, b"")
        for line in ("Content-Type: application/wasm", "Content-Length: 4", "Cross-Origin-Opener-Policy: same-origin",
                     "Cross-Origin-Embedder-Policy: require-corp", "Cross-Origin-Resource-Policy: same-origin",
                     "X-Content-Type-Options: nosniff"):
            self.assertIn(line, head)
        self.assertRegex(head, r"Content-Security-Policy: default-src 'none'; .*frame-ancestors 'none'")
        self.assertNotIn("unsafe-eval'; ", head.replace("wasm-unsafe-eval", ""))

    def test_refuses_other_hosts(self):
        self.start()
        root = f"/{self.secret}/"
        self.assertEqual(self.status(root, host=f"localhost:{self.port}")[0], 200)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", "",
                     f"127.0.0.1:{self.port}.evil.example"):
            self.assertEqual(self.status(root, host=host)[0], 403, host)
        twice = f"GET {root} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nHost: evil.example\r\n\r\n"
        self.assertIn(" 403 ", self.send(twice.encode())[0])
        self.assertIn(" 403 ", self.send(f"GET {root} HTTP/1.1\r\n\r\n".encode())[0])

    def test_survives_invalid_requests(self):
        self.start()
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\nHost", bytes(range(256)),
                     b"GET / SPDY/9\r\nHost: x\r\n\r\n", b"", b"\0" * 100 + b"\r\n\r\n", b"G" * 20000):
            self.send(data)
        self.assertIn(" 431 ", self.send(b"GET / HTTP/1.1\r\nX: " + b"x" * 20000)[0])
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
            self.assertEqual(self.status(f"/{self.secret}/", method=method)[0], 405)
        self.assertEqual(self.status(f"/{self.secret}/")[0], 200)

    def test_answers_while_a_client_is_silent(self):
        self.start()
        with socket.create_connection(("127.0.0.1", self.port)):
            self.assertEqual(self.status(f"/{self.secret}/")[0], 200)

    def test_listens_on_this_machine_only(self):
        self.start()
        rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
        here = [row.split()[1] for row in rows if row.split()[3] == "0A" and row.split()[1].endswith(f":{self.port:04X}")]
        self.assertEqual(here, [f"0100007F:{self.port:04X}"])

    def test_serves_the_character_with_its_files(self):
        model = self.at / "my hero.glb"
        make.glb(model)
        self.start(model)
        self.assertEqual(self.query, "?open=my%20hero.glb")
        self.assertEqual(self.status(f"/{self.secret}/open/my%20hero.glb"), (200, model.read_bytes()))

    def test_serves_other_formats_as_glb(self):
        model = foreign.dae(self.at / "my bar.dae")
        made = support.sinew("bind", model, "-o", self.at / "one.glb", "--weights-json", self.at / "one.json", "--quiet")
        if "built without assimp" in made.stderr:
            self.skipTest("built without assimp")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.start(model)
        self.assertEqual(self.query, "?open=my%20bar.glb")
        code, body = self.status(f"/{self.secret}/open/my%20bar.glb")
        self.assertEqual((code, body[:4]), (200, b"glTF"))
        (self.at / "served.glb").write_bytes(body)
        again = support.sinew("bind", self.at / "served.glb", "-o", self.at / "two.glb", "--weights-json", self.at / "two.json", "--quiet")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.at / "one.json").read_bytes(), (self.at / "two.json").read_bytes())

    def test_serves_a_mesh_without_a_skeleton(self):
        obj = make.obj(self.at / "scan.obj")
        self.start(obj)
        self.assertEqual(self.query, "?open=scan.obj")
        self.assertEqual(self.status(f"/{self.secret}/open/scan.obj"), (200, obj.read_bytes()))
        said = self.process.stdout.readline() + self.process.stdout.readline()
        self.assertIn("scan.obj: an OBJ file has no skeleton", said)
        self.assertIn("choose a template", said)
        self.tearDown()
        self.process = None
        plain = make.glb(self.at / "scan.glb", joints=[], skin=False)
        self.start(plain)
        self.assertEqual(self.query, "?open=scan.glb")
        self.tearDown()
        self.process = None
        # Of other formats only the page's GLB is served.
        off = self.at / "scan.off"
        off.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n")
        if "built without assimp" in support.sinew("inspect", off).stderr:
            self.skipTest("built without assimp")
        self.start(off)
        self.assertEqual(self.query, "?open=scan.glb")
        self.assertEqual(self.status(f"/{self.secret}/open/scan.glb")[1][:4], b"glTF")

    def test_serves_flat_figures_with_their_bones_and_pictures(self):
        picture, bones, layered = self.at / "doll.png", self.at / "doll bones.json", self.at / "figure.json"
        png.write_png(picture, figures.gingerbread())
        (self.at / "parts").mkdir()
        (self.at / "parts" / "body.png").write_bytes(picture.read_bytes())
        bones.write_text(json.dumps({"bones": figures.BONES}))
        layered.write_text(json.dumps({"bones": figures.BONES, "layers": [
            {"image": "parts/body.png"}, {"name": "again", "image": "parts/body.png"}, {"image": str(picture)}]}))
        for args, query in (((picture,), "?open=doll.png"), ((picture, "--skeleton", bones), "?open=doll.png&skeleton=doll%20bones.json"),
                            ((layered,), "?open=figure.json&with=parts%2Fbody.png&with=doll.png")):
            self.start(*args)
            self.assertEqual(self.query, query)
            for asked in re.findall(r"=([^&]+)", query):
                self.assertEqual(self.status(f"/{self.secret}/open/{asked}")[0], 200, asked)
            self.tearDown()
            self.process = None
        (self.at / "parts" / "body.png").unlink()
        broken = self.at / "broken.png"
        broken.write_bytes(picture.read_bytes()[:200])
        for args, code, words in (((broken,), 3, "broken.png"), ((layered,), 3, "body.png"), ((bones,), 3, "layers"),
                                  ((picture, "--skeleton", layered), 2, "layers"), ((layered, "--skeleton", bones), 2, "contains bones")):
            done = support.sinew("studio", "--no-open", "--page", self.page, *args)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)

    def test_a_skeleton_in_another_unit_and_a_prop(self):
        bones = make.skeleton_json(self.at / "bones.json")
        mesh = make.obj(self.at / "bar.obj")
        self.start(mesh, "--skeleton", bones, "--skeleton-scale", "0.01", "--fit-check", "off")
        self.assertEqual(self.query, "?open=bar.obj&skeleton=bones.json&skeleton-scale=0.01&fit-check=off")
        self.tearDown()
        self.process = None

        def below_root(doc):
            doc["nodes"] = [{"name": "root", "children": [1]}, {"mesh": 0}]
            doc["scenes"][0]["nodes"] = [0]

        prop = make.glb(self.at / "prop.glb", joints=[], skin=False, edit=below_root)
        self.start(prop)  # as a mesh without a skeleton
        self.assertIn("--prop", self.process.stdout.readline())
        self.tearDown()
        self.process = None
        self.start(prop, "--prop")
        self.assertEqual(self.query, "?open=prop.glb&prop=on")
        picture = self.at / "doll.png"
        png.write_png(picture, figures.gingerbread())
        for args, code, words in ((("--prop",), 2, "need a file"), ((picture, "--prop"), 2, "for a mesh"),
                                  ((mesh, "--skeleton", bones, "--skeleton-scale", "nan"), 2, "skeleton-scale"),
                                  ((prop, "--prop", "--skeleton-scale", "2"), 2, "--skeleton"), ((prop, "--fit-check", "no"), 2, "fit-check")):
            done = support.sinew("studio", "--no-open", "--page", self.page, *args)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)

    def test_reports_errors_before_serving(self):
        broken = self.at / "broken.glb"
        broken.write_bytes(b"glTF")
        for args, code, words in (((broken,), 3, "broken.glb"), ((self.at / "none.glb",), 3, "none.glb"),
                                  (("--page", self.at), 3, "index.html"), (("--port", "70000"), 2, "port")):
            done = support.sinew("studio", "--no-open", *(() if "--page" in args else ("--page", self.page)), *args)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(words, done.stderr)

    def test_a_taken_port_is_reported(self):
        self.start()
        done = support.sinew("studio", "--no-open", "--page", self.page, "--port", self.port)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"port \d+ .*in use")


class StudioDescriptors(StudioCase):
    # Not under the sanitizers: UBSan opens a pipe to see whether an object can be read, and reports a damaged one if
    # it gets no descriptor.
    @support.without_sanitizers
    def test_running_out_of_descriptors_does_not_end_it(self):
        self.start(limit=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
        many = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(30)]
        for s in many:
            s.close()
        self.assertEqual(self.status(f"/{self.secret}/"), (200, b"<p>here</p>"))
        self.assertIsNone(self.process.poll())


if __name__ == "__main__":
    support.main()
