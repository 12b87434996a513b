// node mcp.mjs SINEW FOLDER: the official client of the Model Context Protocol calls `sinew mcp` (FOLDER has bar.glb), and
// the conformance suite does, through a bridge from HTTP that changes no message. Exit 77 if they are not installed.
import assert from 'node:assert/strict';
import {execFile, spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {createServer} from 'node:http';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const modules = new URL('../node_modules/', import.meta.url);
const sdk = (path) => import(new URL(`@modelcontextprotocol/sdk/dist/esm/${path}.js`, modules));
let client, stdio, http;
try {
  [client, stdio, http] = await Promise.all(['client/index', 'client/stdio', 'server/streamableHttp'].map(sdk));
} catch {
  console.error('the client of the Model Context Protocol is not installed (run: cd tests && npm ci)');
  process.exit(77);
}
const [program, folder] = process.argv.slice(2);
const words = ['mcp', '--root', folder];

// The client validates what it gets against the schemas of the protocol.
const agent = new client.Client({name: 'sinew-tests', version: '1'});
await agent.connect(new stdio.StdioClientTransport({command: program, args: words}));
assert.equal(agent.getServerVersion().name, 'sinew');
const {tools} = await agent.listTools();
assert.equal(tools.length, 11);
const seen = [];
const bound = await agent.callTool({name: 'bind', arguments: {input: 'bar.glb', output: 'bar.glb'}}, undefined,
                                   {onprogress: (p) => seen.push(p.progress)});
assert.ok(!bound.isError && bound.structuredContent.output === 'bar.glb');
assert.ok(seen.length > 0);
const checked = await agent.callTool({name: 'check', arguments: {inputs: 'bar.glb'}});
assert.equal(checked.structuredContent.passed, true);
const refused = await agent.callTool({name: 'inspect', arguments: {input: '../bar.glb'}});
assert.ok(refused.isError && refused.content[0].text.includes('--root'));
await assert.rejects(agent.callTool({name: 'bnd', arguments: {}}), /did you mean 'bind'/);
const stop = new AbortController();
const slow = agent.callTool({name: 'bind', arguments: {input: 'bar.glb', output: 'slow.glb', method: 'bounded-biharmonic',
                                                       resolution: '512'}}, undefined,
                            {signal: stop.signal, onprogress: () => stop.abort('enough')});
await assert.rejects(slow);
await agent.ping();
await agent.close();

// Sessions of the bridge: messages of HTTP to a process of their own, and back.
const sessions = new Map();
const bridge = createServer(async (request, response) => {
  let session = sessions.get(request.headers['mcp-session-id']);
  if (!session) {
    const child = spawn(program, words, {stdio: ['pipe', 'pipe', 'inherit']});
    const transport = new http.StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, session),
    });
    session = {child, transport};
    transport.onmessage = (message) => child.stdin.write(JSON.stringify(message) + '\n');
    createInterface({input: child.stdout}).on('line', (line) => transport.send(JSON.parse(line)).catch(() => {}));
    await transport.start();
  }
  await session.transport.handleRequest(request, response);
});
await new Promise((ready) => bridge.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${bridge.address().port}/mcp`;
const suite = fileURLToPath(new URL('@modelcontextprotocol/conformance/dist/index.js', modules));
// The other scenarios call tools, prompts and resources of a server that was made for the suite.
for (const scenario of ['server-initialize', 'ping', 'tools-list']) {
  const output = await new Promise((end, wrong) =>
    execFile('node', [suite, 'server', '--url', url, '--scenario', scenario], (error, out, err) =>
      error ? wrong(new Error(`${scenario}: ${out}${err}`)) : end(out)));
  console.log(scenario, output.match(/\d+\/\d+|\d+ passed.*/)?.[0] ?? '');
}
for (const {child} of sessions.values()) child.stdin.end();
bridge.closeAllConnections();
bridge.close();
process.exit(0);
