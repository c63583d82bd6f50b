import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { layOut } from '../../../src/doctor/self-test/lay-out.js';
import { findPlaywright } from '../../../src/playwright/find-playwright.js';
import { tempDir } from '../../rig/temp-dir.js';

it('CL-11 the self-test’s hanging agent records its process ids although it works in a copy', async () => {
  const playwright = findPlaywright(process.cwd());
  if (!playwright.ok) throw new Error(playwright.error.message);
  const dir = tempDir();
  const source = path.resolve('src/doctor/self-test/project');
  const browser = { browserName: 'chromium' as const, headless: true as const };
  const made = await layOut(dir, { playwright: playwright.value, browser, env: process.env, source });
  if (!made.ok) throw new Error(made.error.message);
  const { project, state } = made.value;
  const copy = path.join(tempDir(), 'elsewhere', 'project');
  cpSync(project, copy, { recursive: true, filter: (file) => !file.includes('node_modules') });
  const context = path.join(tempDir(), 'context.json');
  writeFileSync(context, JSON.stringify({ attempt: 1, test: { file: 'tests/4-hanging-agent.spec.mjs' } }));
  const env = { ...process.env, SELF_HEAL_CONTEXT: context };
  const agent = spawn(process.execPath, ['agent.mjs'], { cwd: copy, env, stdio: 'ignore' });
  const pidsFile = path.join(state, 'pids.json');
  const pids = (): unknown[] =>
    existsSync(pidsFile) ? (JSON.parse(readFileSync(pidsFile, 'utf8') || '[]') as number[]) : [];
  onTestFinished(() => {
    for (const pid of [agent.pid, ...pids()]) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It has already exited.
      }
    }
  });
  await vi.waitFor(() => expect(pids()).toEqual([agent.pid, expect.any(Number)]), { timeout: 30_000 });
});
