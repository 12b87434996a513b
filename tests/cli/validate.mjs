// node validate.mjs FILE… : one JSON object on stdout, { file: { "severity CODE": count } }, by the Khronos validator.
// Exit 77 if the validator is not installed. One process for many files, because starting it is the slow part.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

let validator;
try {
  validator = (await import(new URL("../node_modules/gltf-validator/index.js", import.meta.url))).default;
} catch {
  console.error("gltf-validator is not installed (run: cd tests && npm ci)");
  process.exit(77);
}

const severities = ["error", "warning", "info", "hint"];
const result = {};
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
    uri: basename(file),
    maxIssues: 0,
    externalResourceFunction: async (uri) => new Uint8Array(readFileSync(join(dirname(file), decodeURIComponent(uri)))),
  });
  const counts = (result[file] = {});
  for (const message of report.issues.messages) {
    const key = `${severities[message.severity]} ${message.code}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
}
console.log(JSON.stringify(result));
