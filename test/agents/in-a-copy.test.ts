import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { createRunAgent } from '../../src/agents/create-run-agent.js';
import { expandPrompt } from '../../src/agents/expand-command.js';
import { createCopy, type ProjectCopy } from '../../src/workspace/copy.js';
import { agentTask } from '../rig/agent-task.js';
import { tempDir } from '../rig/temp-dir.js';
import {
  commandFile,
  finalMessage,
  realPrograms,
  runnerSettings,
  useOnlyEnv,
  type RealProgram,
} from './real-program.js';
import { startStubApi, type Step } from './stub-api.js';

const runAgent = createRunAgent();

interface PreparedCopy {
  readonly root: string;
  readonly copy: ProjectCopy;
  /** Shared by all attempts, so that the program finds its earlier sessions. */
  readonly env: Record<string, string>;
}

/** A repository in which git ignores some of the coding agents' settings, and its copy as a run makes it. */
async function prepareCopy(program: RealProgram, url: string): Promise<PreparedCopy> {
  const root = tempDir('project');
  const files = {
    'package.json': '{ "name": "scratch", "type": "module" }',
    '.gitignore': '.claude/\n.codex/\n.gemini/\n.opencode/\n',
    'a.txt': 'one\n',
    ...commandFile(program),
    ...program.settings.files,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'first'],
  ]) {
    await execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root });
  }
  return { root, copy: createCopy(root, path.join(tempDir(), 'self-heal-run')), env: program.env(url) };
}

/** Refreshes the copy from the project and makes one attempt in it. */
async function attempt(
  program: RealProgram,
  { root, copy, env }: PreparedCopy,
  more: { words: string; resume?: string },
) {
  const { name } = program;
  await copy.refresh();
  useOnlyEnv(env);
  return runAgent(
    agentTask('hangs', {
      runner: runnerSettings(program),
      agent: { name: 'debugger', slashCommand: '/debugger', runner: name, timeoutMs: 120_000 },
      prompt: await expandPrompt(runnerSettings(program), `/debugger ${more.words}`, {
        cwd: root,
        clean: (text) => text,
      }),
      cwd: copy.tree,
      workDir: copy.folder,
      copyOf: { project: root, root: copy.tree },
      resume: more.resume ?? null,
    }),
  );
}

describe.each(realPrograms)('$name in a copy of the project', (program) => {
  it('HN-1 AG-1 edits only the copy, and finds the project’s command, instructions and settings there', async () => {
    let steps: Step[] = [];
    await using stub = await startStubApi(() => steps);
    const project = await prepareCopy(program, stub.url);
    const file = path.join(project.copy.tree, 'a.txt');
    steps = [...program.settings.calls, ...program.edits(file), finalMessage];
    const run = await attempt(program, project, { words: 'Fix this error.' });
    expect(run.end, run.tail).toEqual({ kind: 'completed' });
    expect(readFileSync(file, 'utf8')).toBe('two\n');
    expect(readFileSync(path.join(project.root, 'a.txt'), 'utf8')).toBe('one\n');
    const sent = stub.requests.map(({ body }) => body).join('\n');
    const wanted = ['EXPANDED-BY-THE-COMMAND-FILE: Fix this error.', ...program.settings.seen];
    expect(wanted.filter((text) => !sent.includes(text))).toEqual([]);
    expect(run.denials).toEqual([]);
  });

  it('AG-9 resumes its session in the refreshed copy', async () => {
    await using stub = await startStubApi([finalMessage]);
    const project = await prepareCopy(program, stub.url);
    const first = await attempt(program, project, { words: 'These are the words of the first attempt.' });
    program.ageSessions?.(project.env['HOME'] ?? '');
    const until = stub.requests.length;
    const resume = first.usage.sessionId!;
    const second = await attempt(program, project, { words: 'And these of the second.', resume });
    expect(second.end, second.tail).toEqual({ kind: 'completed' });
    const sent = stub.requests.slice(until).find(({ isMain }) => isMain)!.body;
    expect(sent).toContain('words of the first attempt');
    expect(sent).toContain('these of the second');
  });
});
