"""Tests of `sinew mcp` (docs/mcp.md): the protocol line by line, wrong and hostile calls, and the client and the
conformance suite of others (mcp.mjs).

mcp.py [CLASS…]; run like cli.py."""
import base64
import ctypes
import errno
import json
import os
import queue
import re
import struct
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import check
import cli
import make
import numpy as np
import support


OPENAT2 = 437  # on every kind of processor
# A filter of system calls: that number fails with ENOSYS, any other is allowed.
FILTER = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in (
    (0x20, 0, 0, 0), (0x15, 0, 1, OPENAT2), (0x06, 0, 0, 0x00050000 | errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000))))


def forget_openat2():
    """In a process that is about to start: its kernel is one before 5.6."""
    prctl, zero = ctypes.CDLL(None).prctl, ctypes.c_ulong(0)
    if prctl(38, ctypes.c_ulong(1), zero, zero, zero) or prctl(22, ctypes.c_ulong(2), struct.pack("HP", 4, ctypes.addressof(FILTER))):
        raise OSError("no filters of system calls")


class Agent:
    """A client of `sinew mcp` that speaks JSON-RPC by hand."""

    def __init__(self, root, first=None):
        self.process = subprocess.Popen([support.SINEW, "mcp", "--root", str(root)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=first)
        self.messages, self.id, self.notified = queue.Queue(), 0, []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))

    def write(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, id=None):
        message = {"jsonrpc": "2.0", "method": method}
        message |= {} if id is None else {"id": id}
        self.write(json.dumps(message | ({} if params is None else {"params": params})))

    def next(self):
        return self.messages.get(timeout=300)

    def answer(self):
        """The next message that is no notification."""
        while "method" in (message := self.next()):
            self.notified.append(message)
        return message

    def request(self, method, params=None):
        self.id += 1
        self.send(method, params, self.id)
        message = self.answer()
        assert message["id"] == self.id, message
        return message

    def call(self, tool, **arguments):
        """The result of a tool; keys with _ for -."""
        return self.request("tools/call", {"name": tool, "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}})["result"]

    def close(self):
        """The exit code after the end of the input, and what was written to standard error."""
        self.process.stdin.close()
        code = self.process.wait(timeout=300)
        self.reader.join(timeout=60)
        error = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, error


def text(result):
    return result["content"][0]["text"]


class McpCase(cli.Case):
    first = None  # called in the server's process before it starts

    def setUp(self):
        super().setUp()
        self.root = self.at / "root"
        self.root.mkdir()
        self.agent = Agent(self.root, self.first)

    def tearDown(self):
        if self.agent:
            self.assertEqual(self.agent.close(), (0, ""))
        super().tearDown()

    def lives(self):
        self.assertEqual(self.agent.request("ping")["result"], {})

    def refused(self, tool, said, **arguments):
        before = sorted(self.at.rglob("*"))
        result = self.agent.call(tool, **arguments)
        self.assertTrue(result["isError"], result)
        self.assertRegex(text(result), said)
        self.assertRegex(text(result), r"\(.+\)|sinew |: | must be ", "no remedy")
        self.assertEqual(sorted(self.at.rglob("*")), before)
        self.lives()


class Mcp(McpCase):
    def test_a_greeting_and_the_tools(self):
        for asked, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
            greeting = self.agent.request("initialize", {"protocolVersion": asked, "capabilities": {},
                                                         "clientInfo": {"name": "t", "version": "0"}})["result"]
            self.assertEqual(greeting["protocolVersion"], given)
        self.assertEqual(greeting["serverInfo"]["name"], "sinew")
        self.agent.send("notifications/initialized")
        tools = {t["name"]: t for t in self.agent.request("tools/list")["result"]["tools"]}
        self.assertEqual(list(tools), "inspect bind check fix clean compare rig transfer edit pose render".split())
        bind = tools["bind"]["inputSchema"]
        self.assertEqual(bind["required"], ["input", "output"])
        options = bind["properties"]
        self.assertIn("surface-heat", options["method"]["enum"])
        self.assertEqual(options["learned"]["type"], "number")
        self.assertEqual(options["prop"]["type"], "boolean")
        self.assertEqual(options["hard-range"]["maxItems"], 2)
        self.assertFalse(bind["additionalProperties"])
        # Every option of the command is there, but those that make no sense.
        help = support.sinew("bind", "--help-advanced").stdout
        own = set(re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)", help, re.M))
        self.assertEqual(own - set(options), {"help", "help-advanced", "json", "quiet", "follow-links"} & own)
        json_itself = {(tool, name) for tool, t in tools.items() for name, p in t["inputSchema"]["properties"].items()
                       if "object" in str(p.get("type", p))}
        self.assertEqual(json_itself, {(tool, "edits") for tool in ("bind", "edit", "pose")} | {(tool, "thresholds") for tool in ("check", "fix")} |
                         {(tool, "pose") for tool in ("pose", "render")} | {("compare", "poses")})
        self.assertIn("joints", tools["render"]["inputSchema"]["properties"]["view"]["enum"])
        self.assertNotIn("fix", tools["fix"]["inputSchema"]["properties"])
        self.assertIn("output", tools["fix"]["inputSchema"]["required"])

    def test_tools_do_what_the_commands_do(self):
        make.glb(self.root / "bar.glb")
        bound = self.agent.call("bind", input="bar.glb", output="out.glb", method="closest-distance", max_influences=2)
        self.assertFalse(bound["isError"], bound)
        done = support.sinew("bind", self.root / "bar.glb", "-o", self.at / "out.glb", "--method", "closest-distance",
                             "--max-influences", "2", "--json")
        self.assertEqual((self.root / "out.glb").read_bytes(), (self.at / "out.glb").read_bytes())
        wanted = json.loads(done.stdout)
        self.assertEqual(bound["structuredContent"]["options"], wanted["options"])
        self.assertEqual(json.loads(text(bound)), bound["structuredContent"])
        # Absolute names below the root, several files, and edits as JSON.
        self.assertFalse(self.agent.call("inspect", input=str(self.root / "out.glb"))["isError"])
        both = self.agent.call("check", inputs=["out.glb", "out.glb"])
        self.assertEqual(text(both).count('"passed":true'), 2, both)
        edited = self.agent.call("edit", input="out.glb", output="rigid.glb",
                                 edits=[{"op": "set", "select": {"vertices": [0]}, "weights": {"upper": 1}}])
        self.assertFalse(edited["isError"] and "unknown" in text(edited), edited)
        gate = self.agent.call("compare", A="out.glb", B="bar.glb", max_l1=0)
        self.assertIn("content", gate)
        self.assertEqual([p.name for p in self.root.iterdir() if p.name.startswith(".")], [])

    @unittest.skipUnless(os.environ.get("SINEW_RENDER", "ON") == "ON", "pictures need OpenGL")
    def test_render_returns_the_picture(self):
        make.glb(self.root / "bar.glb")
        self.agent.call("bind", input="bar.glb", output="bar.glb")
        drawn = self.agent.call("render", input="bar.glb", size="200x150")
        self.assertFalse(drawn["isError"], drawn)
        picture = drawn["content"][1]
        self.assertEqual((picture["type"], picture["mimeType"]), ("image", "image/png"))
        self.assertEqual(base64.b64decode(picture["data"])[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([p.name for p in self.root.iterdir()], ["bar.glb"])

    def test_progress_and_a_cancelled_call(self):
        support.run(support.CHARACTERS, "biped", self.root / "biped.glb")
        before = sorted(self.root.iterdir())
        arguments = {"input": "biped.glb", "output": "out.glb", "method": "bounded-biharmonic", "resolution": "256"}
        self.agent.send("tools/call", {"name": "bind", "arguments": arguments, "_meta": {"progressToken": "p"}}, 77)
        first = self.agent.next()
        self.assertEqual((first["method"], first["params"]["progressToken"]), ("notifications/progress", "p"))
        self.agent.send("notifications/cancelled", {"requestId": 77, "reason": "enough"})
        self.assertEqual(self.agent.request("ping")["result"], {})
        # The next call is answered, the cancelled one is not, and nothing was written.
        result = self.agent.call("inspect", input="biped.glb")
        self.assertFalse(result["isError"])
        at = [n["params"]["progress"] for n in [first, *self.agent.notified]]
        self.assertEqual(at, sorted(set(at)))
        self.assertEqual(sorted(self.root.iterdir()), before)

    def test_a_client_that_closes_in_the_middle(self):
        support.run(support.CHARACTERS, "biped", self.root / "biped.glb")
        before = sorted(self.root.iterdir())
        arguments = {"input": "biped.glb", "output": "out.glb", "method": "bounded-biharmonic", "resolution": "256"}
        self.agent.send("tools/call", {"name": "bind", "arguments": arguments, "_meta": {"progressToken": 1}}, 1)
        self.agent.next()
        self.assertEqual(self.agent.close(), (0, ""))
        self.agent = None
        self.assertEqual(sorted(self.root.iterdir()), before)


class McpWrong(McpCase):
    def test_messages_that_are_none(self):
        for line, code, said in (
                ("nonsense", -32700, "not JSON"), ("[" * 100000, -32700, "deep|nest"), ("[]", -32600, "one in each message"),
                ('{"id": 1, "method": "ping"}', -32600, "JSON-RPC 2.0"),
                ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, "JSON-RPC 2.0"),
                ('{"jsonrpc": "2.0", "id": 4, "method": "resources/list"}', -32601, "methods: initialize"),
                ('{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": [1]}', -32602, "must be an object"),
                ('{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "bnd"}}', -32602, "did you mean 'bind'")):
            with self.subTest(line[:60]):
                self.agent.write(line)
                error = self.agent.answer()["error"]
                self.assertEqual(error["code"], code)
                self.assertRegex(error["message"], said)
                self.lives()
        self.agent.write("")
        self.agent.send("notifications/unheard-of")
        self.lives()

    def test_calls_that_are_wrong(self):
        make.glb(self.root / "bar.glb")
        make.glb(self.root / "bare.glb", skin=False)
        (self.root / "words.glb").write_text("not a character")
        (self.root / "words.txt").write_text("not a character")
        (self.root / "folder.glb").mkdir()
        out = {"input": "bar.glb", "output": "out.glb"}
        for tool, said, arguments in (
                ("bind", r"no option 'max-influence' \(did you mean 'max-influences'", out | {"max_influence": 3}),
                ("bind", "no option 'json'", out | {"json": True}),
                ("bind", "bind needs 'output'", {"input": "bar.glb"}),
                ("bind", "'input' is a text", out | {"input": 3}),
                ("bind", "'prop' is true or false", out | {"prop": "yes"}),
                ("bind", "'input' must not be empty", out | {"input": ""}),
                ("bind", "'input' takes one value", out | {"input": ["a.glb", "b.glb"]}),
                ("bind", "did you mean 'surface-heat'", out | {"method": "surfaceheat"}),
                ("bind", "must be 1 to 8, or all", out | {"max_influences": 99}),
                ("bind", "words.glb", out | {"input": "words.glb"}),
                ("bind", "words.txt", out | {"input": "words.txt"}),
                ("bind", "it is a folder", out | {"input": "folder.glb"}),
                ("bind", "missing.glb", out | {"input": "missing.glb"}),
                ("bind", "output must be .glb", out | {"output": "out.xyz"}),
                ("edit", "edits", out | {"edits": {"edits": [{"op": "nothing"}]}}),
                ("check", "sinew bind", {"inputs": "bare.glb"}),
                ("inspect", "-x.glb", {"input": "-x.glb"})):
            with self.subTest(said):
                self.refused(tool, said, **arguments)

    def test_nothing_outside_of_the_root(self):
        secret = make.glb(self.at / "secret.glb")
        make.glb(self.root / "bar.glb")
        (self.root / "link.glb").symlink_to(secret)
        (self.root / "up").symlink_to(self.at)
        (self.root / "written.glb").symlink_to(self.at / "written.glb")
        outside = "not in the folder that this process is confined to"
        for name in ("../secret.glb", str(secret), "/etc/passwd", "link.glb", "up/secret.glb", "up/../bar.glb",
                     "x/../../secret.glb", "/proc/self/root/etc/passwd"):
            with self.subTest(name):
                self.refused("inspect", outside, input=name)
        for name in ("../out.glb", str(self.at / "out.glb"), "up/out.glb", "written.glb", "/dev/null"):
            with self.subTest(name):
                self.refused("bind", outside, input="bar.glb", output=name)
        for options in ({"report": "../r.json"}, {"edits": "../e.json"}, {"skeleton": "up/secret.glb"}):
            with self.subTest(options):
                self.refused("bind", outside, input="bar.glb", output="out.glb", **options)
        self.refused("bind", "no option 'follow-links'", input="bar.glb", output="out.glb", follow_links=True)
        # What a model refers to.
        (self.at / "secret.bin").write_bytes(bytes(64))
        (self.root / "far.bin").symlink_to(self.at / "secret.bin")
        for uri in ("../secret.bin", "far.bin", "up/secret.bin", f"file://{self.at}/secret.bin", str(self.at / "secret.bin")):
            gltf = {"asset": {"version": "2.0"}, "buffers": [{"uri": uri, "byteLength": 64}],
                    "bufferViews": [{"buffer": 0, "byteLength": 36}],
                    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]}],
                    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}]}
            (self.root / "refers.gltf").write_text(json.dumps(gltf))
            with self.subTest(uri):
                self.refused("inspect", "refers.gltf|" + outside, input="refers.gltf")

    def test_no_process_is_started(self):
        (self.root / "figure.dae").write_text("<?xml version='1.0'?><COLLADA version='1.4.1'></COLLADA>")
        self.refused("inspect", "none is started here", input="figure.dae")
        children = Path(f"/proc/{self.agent.process.pid}/task/{self.agent.process.pid}/children")
        if children.exists():
            self.assertEqual(children.read_text().strip(), "")

    def test_a_root_that_is_none(self):
        done = support.sinew("mcp", "--root", self.at / "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--root", done.stderr)


@unittest.skipUnless(sys.platform == "linux", "openat2 is Linux's")
class McpOldKernel(McpCase):
    """The root without openat2."""

    @staticmethod
    def first():
        forget_openat2()

    def setUp(self):
        try:
            super().setUp()
        except subprocess.SubprocessError:
            self.skipTest("this system allows no filter of system calls")

    test_tools_do_what_the_commands_do = Mcp.test_tools_do_what_the_commands_do
    test_nothing_outside_of_the_root = McpWrong.test_nothing_outside_of_the_root

    def test_the_filter(self):
        call = f"import ctypes; c = ctypes.CDLL(None, use_errno=True); c.syscall({OPENAT2}, 0, 0, 0, 0); print(ctypes.get_errno())"
        self.assertEqual(support.run(sys.executable, "-c", call, preexec_fn=self.first).stdout.strip(), str(errno.ENOSYS))
        self.assertNotEqual(support.run(sys.executable, "-c", call).stdout.strip(), str(errno.ENOSYS))


class McpSession(McpCase):
    """The session of docs/mcp.md: a client without knowledge of characters follows the remedies."""

    KINDS = ("biped", "quadruped", "robot", "caped", "biped_controls")

    @staticmethod
    def faults():
        """Kinds of broken and poor characters: from a bound one, a file."""
        def halves(skin):
            skin.weights *= 0.5

        def noise(skin):
            random = np.random.default_rng(3)
            skin.weights[:] = np.maximum(skin.weights + random.normal(0, 0.05, skin.weights.shape), 1e-4)
            skin.weights /= 1.3 * skin.weights.sum(1, keepdims=True)

        def wrong(skin):
            some = np.random.default_rng(4).permutation(len(skin.weights))[:len(skin.weights) // 60]
            skin.joints[some, 0] = (skin.joints[some, 0] + 11) % len(skin.names)
            skin.weights[some] = (np.nan, 0, 0, 0)
            skin.weights[some[::2]] = (1, 0, 0, 0)

        return {"unbound": None, "halves": halves, "noise": noise, "wrong": wrong}

    def mend(self, name):
        """Follows the remedies until the check passes: the number of calls, or fails."""
        calls = [("check", {"inputs": name})]
        for number in range(1, 6):
            tool, arguments = calls.pop(0)
            result = self.agent.call(tool, **arguments)
            said = text(result)
            value = result.get("structuredContent", {})
            if value.get("passed"):
                return number
            if result["isError"] and "sinew bind" in said:  # it names the remedy
                calls = [("bind", {"input": name, "output": name}), ("check", {"inputs": name})]
            elif result["isError"]:
                self.fail(said)
            elif "rules" in value and not calls:
                calls = [("clean", {"input": name, "output": name}), ("fix", {"inputs": name, "output": name})]
        self.fail(f"{name}: five calls were not enough: {said}")

    def test_twenty_broken_characters_pass_in_five_calls(self):
        made = 0
        for kind in self.KINDS:
            for fault, plant in self.faults().items():
                name = f"{kind}-{fault}.glb"
                bound = check.character(kind)
                if plant:
                    skin = check.Skin(bound)
                    plant(skin)
                    skin.save(self.root / name)
                else:
                    (self.root / name).write_bytes(Path(str(bound)[:-4] + ".mesh.glb").read_bytes())
                with self.subTest(name):
                    self.assertNotEqual(support.sinew("check", self.root / name).returncode, 0)
                    self.assertLessEqual(self.mend(name), 5)
                    self.assertEqual(support.sinew("check", self.root / name).returncode, 0)
                made += 1
        self.assertEqual(made, 20)


class McpOfOthers(cli.Case):
    """The official client and the conformance suite."""

    def test_the_client_and_the_suite(self):
        make.glb(self.at / "bar.glb")
        try:
            done = support.run("node", support.HERE / "mcp.mjs", support.SINEW, self.at, timeout=600)
        except FileNotFoundError:
            self.skipTest("there is no node")
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
