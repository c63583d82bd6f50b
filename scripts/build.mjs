// Compiles src/ to dist/ and writes the JSON Schema of agents.yaml from the compiled config.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const node = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
node(path.join('node_modules', 'typescript', 'bin', 'tsc'));
node(path.join('scripts', 'generate-schema.mjs'));
