// Compiles src/ to dist/ and writes the JSON Schema of agents.yaml from the compiled config.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
node(path.join('node_modules', 'typescript', 'bin', 'tsc'));
// The page of `self-heal ui` is compiled for browsers, and files that are not code are copied.
const page = path.join('src', 'ui', 'page');
node(path.join('node_modules', 'typescript', 'bin', 'tsc'), '-p', page);
for (const name of ['index.html', 'base.css', 'ui.css', 'icon.svg']) {
  cpSync(path.join(root, page, name), path.join(root, 'dist', 'ui', 'page', name));
}
cpSync(path.join(root, 'src', 'html', 'report.css'), path.join(root, 'dist', 'html', 'report.css'));
// The drill's project is run as it is: planted faults and a scripted agent.
const drill = path.join('doctor', 'drill', 'project');
cpSync(path.join(root, 'src', drill), path.join(root, 'dist', drill), { recursive: true });
node(path.join('scripts', 'generate-schema.mjs'));
