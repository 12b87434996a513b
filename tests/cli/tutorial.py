"""Runs every command of docs/tutorial.md and checks the results that the text states.

tutorial.py [CLASS…]; the program under test is named by SINEW, the generator of characters by SINEW_CHARACTERS."""
import os
import re
import shutil
import subprocess

import cli
import support


class Tutorial(cli.Case):
    LABELS = "cli gl"

    def test_every_command(self):
        text = (support.ROOT / "docs/tutorial.md").read_text()
        self.assertEqual(support.run(support.CHARACTERS, "caped", self.at / "character.glb").returncode, 0)
        (self.at / "bin").mkdir()
        (self.at / "bin/sinew").symlink_to(shutil.which(support.SINEW))
        env = {**os.environ, "PATH": f"{self.at / 'bin'}:{os.environ['PATH']}"}
        commands = 0
        # In the order of the page: files to save, and commands to run. A build that cannot draw skips pictures.
        for language, name, body in re.findall(r"^```(sh|json) ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            if language == "json":
                (self.at / name).write_text(body)
                continue
            for command in body.strip().splitlines():
                if command.startswith("sinew render") and os.environ.get("SINEW_RENDER") == "OFF":
                    continue
                with self.subTest(command):
                    done = subprocess.run(["bash", "-c", command], cwd=self.at, env=env, capture_output=True, text=True,
                                          stdin=subprocess.DEVNULL, timeout=300)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    commands += 1
        self.assertGreaterEqual(commands, 10)
        # "again.glb is equal to hard.glb, byte for byte."
        self.assertEqual((self.at / "again.glb").read_bytes(), (self.at / "hard.glb").read_bytes())
        # The output that the page quotes.
        bound = support.sinew("bind", self.at / "character.glb", "-o", self.at / "count.glb").stdout
        compared = support.sinew("compare", self.at / "character.skinned.glb", self.at / "hard.glb").stdout
        outside_fences = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        for quoted in re.findall(r"^    ( *\S.*)$", outside_fences, re.MULTILINE):
            quoted = re.sub(r" in \d.*|output .*", "", quoted)  # seconds and file names differ
            self.assertIn(quoted, bound + compared)


if __name__ == "__main__":
    support.main()
