// Checks SARIF logs against the schema of SARIF 2.1.0, which the npm package @microsoft/jest-sarif has (tests/package.json).
//
//   node tests/cli/sarif.mjs FILE…        prints what is wrong; exit code 1 then, and 77 without the package
import {existsSync, readFileSync} from 'node:fs';

const modules = new URL('../node_modules/', import.meta.url);
const schema = new URL('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json', modules);
if (!existsSync(schema)) process.exit(77);
const {default: Ajv} = await import(new URL('ajv/lib/ajv.js', modules));
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const checker = new Ajv({schemaId: 'auto', meta: false, unknownFormats: 'ignore', allErrors: true, logger: false});
checker.addMetaSchema(read(new URL('ajv/lib/refs/json-schema-draft-04.json', modules)));
const validate = checker.compile(read(schema));
for (const file of process.argv.slice(2)) {
  if (validate(read(file))) continue;
  for (const {dataPath, message} of validate.errors) console.log(`${file}: ${dataPath || 'the log'} ${message}`);
  process.exitCode = 1;
}
