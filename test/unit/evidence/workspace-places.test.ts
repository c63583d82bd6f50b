import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { classify } from '../../../src/core/classify/classify.js';
import type { Evidence } from '../../../src/core/evidence.js';
import { mapEvidence } from '../../../src/evidence/map-evidence.js';
import { MissingEvidence } from '../../../src/evidence/bounded-text.js';
import { anEvidence } from '../../rig/builders.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';
import { request } from '../core/classify-evidence.js';

const pageUrl = 'http://localhost:3000/';
const map = { version: 3, names: [], sources: ['../src/cart.ts'], mappings: 'AAEG' };
const files = {
  'package.json': '{ "workspaces": ["*"] }',
  'web/package.json': '{}',
  'web/src/cart.ts': 'one\ntwo\nthree\n',
  'web/dist/app.js': 'x\n//# sourceMappingURL=app.js.map\n',
  'web/dist/app.js.map': JSON.stringify(map),
  'api/main.go': 'one\ntwo\nthree\n',
  'api/views.py': 'one\ntwo\nthree\n',
  'node_modules/express/index.js': 'one\ntwo\nthree\n',
};

/** Gathers what a project of tests, `e2e/` in a workspace, shows of an error elsewhere in the workspace. */
function shown(over: (workspace: string) => Partial<Evidence>): Evidence {
  const workspaceDir = path.join(tempDir(), 'workspace');
  const rootDir = path.join(workspaceDir, 'e2e');
  mkdirSync(rootDir, { recursive: true });
  writeInto(workspaceDir, files);
  const evidence = anEvidence({ rootDir, workspaceDir, pageUrl, ...over(workspaceDir) });
  const request = { root: rootDir, workspaceDir, pageUrl, scripts: [] };
  return { ...evidence, ...mapEvidence(evidence, request, new MissingEvidence()) };
}

const thrown = 'TypeError: Cannot read properties of undefined (reading "total")';
const logged = (text: string) => (workspace: string) => ({
  network: [request({ status: 500 })],
  serverOutput: text.replaceAll('<workspace>', workspace),
});
const inPage = (frame: string) => (workspace: string) => {
  const stack = `${thrown}\n    at f (${frame.replace('<workspace>', encodeURI(workspace))})`;
  return { console: [{ time: 0, type: 'pageerror', text: thrown, location: '', stack }] };
};

it.each([
  ['Node', logged(`${thrown}\n    at total (<workspace>/web/src/cart.ts:3:4)`), '../web/src/cart.ts:3:4'],
  ['Go', logged('./main.go:3:4: undefined: total'), '../api/main.go:3:4'],
  ['a page of a built app', inPage(`${pageUrl}app.js:1:1`), '../web/src/cart.ts:3:4'],
])('EV-6 finds the line of another package of the workspace that %s names', (_, over, place) => {
  const evidence = shown(over);
  expect(classify(evidence).facts.source).toBe(place);
  expect(evidence.sources.find(({ at }) => at === place)?.snippet).toContain('> 3 | three');
});

it('EV-6 finds the last line of a Python traceback that is in another package of the workspace', () => {
  const traceback = `Traceback (most recent call last):\n  File "<workspace>/api/views.py", line 3, in total\n    three\nKeyError: 'total'`;
  expect(classify(shown(logged(traceback))).facts.source).toBe('../api/views.py:3');
});

it('EV-6 finds the line of another package of the workspace that a development server names', () => {
  const { facts } = classify(shown(inPage(`${pageUrl}@fs<workspace>/web/src/cart.ts:3:4`)));
  expect(facts.source).toBe('../web/src/cart.ts:3:4');
});

it.each([
  ['a package', '<workspace>/node_modules/express/index.js:3:4'],
  ['a file outside of the workspace', '/elsewhere/cart.ts:3:4'],
])('EV-6 does not take %s for the user’s own code', (_, frame) => {
  const evidence = shown(logged(`${thrown}\n    at total (${frame})`));
  expect([classify(evidence).facts.source, evidence.sources]).toEqual([null, []]);
});
