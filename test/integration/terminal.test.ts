import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { StampedEvent } from '../../src/event.js';
import { agentAtWork, healed, redRun } from '../rig/a-run-of-events.js';
import { compiledSrc } from '../rig/compiled-src.js';
import { canPty, onAPty } from '../rig/on-a-pty.js';
import { tempDir } from '../rig/temp-dir.js';

/** A program that reports these events as a run does. The line `end` on standard input ends it; any other makes it crash. */
async function program(events: readonly StampedEvent[]): Promise<string[]> {
  const dir = tempDir();
  const file = path.join(dir, 'program.mjs');
  await writeFile(path.join(dir, 'events.json'), JSON.stringify(events));
  const from = (name: string) => JSON.stringify(path.join(compiledSrc(), name));
  await writeFile(
    file,
    `import { readFileSync } from 'node:fs';
    import { createInterface } from 'node:readline';
    import { createTerminalReporter } from ${from('outputs/terminal.js')};
    import { choosePalette } from ${from('outputs/streams.js')};
    import { canRedraw } from ${from('outputs/streams.js')};
    import { reduce } from ${from('run/run-state.js')};
    import { createEmptyRun } from ${from('run/run-state.js')};
    import { listenForInterrupts } from ${from('process/interrupts.js')};
    const { env, stderr } = process;
    const isLive = canRedraw(env, stderr);
    const reporter = createTerminalReporter({ stream: stderr, paint: choosePalette(env), isLive, now: Date.now });
    const interrupts = listenForInterrupts((text) => stderr.write('self-heal ' + text + '\\n'));
    const end = (code, said) => {
      reporter.close();
      stderr.write(said + '\\n');
      process.exit(code);
    };
    interrupts.signal.addEventListener('abort', () => end(130, 'the last screen'));
    const time = Date.now();
    let run = createEmptyRun();
    for (const told of JSON.parse(readFileSync(new URL('events.json', import.meta.url)))) {
      const event = { ...told, time };
      run = reduce(run, event);
      reporter.handle(event, run);
    }
    for await (const line of createInterface({ input: process.stdin })) {
      if (line === 'end') end(0, 'the last screen');
      setImmediate(() => { throw new Error('a bug'); });
    }`,
  );
  return [process.execPath, file];
}

const long = 'Edit src/a/very/long/way/to/the/cart/that/is/not/yet/over/and/goes/on/for/long.ts';

async function atWork(env?: Record<string, string>) {
  const agents = [...agentAtWork('c1', 'Read', 0), ...healed('c1', 0), ...agentAtWork('c2', long, 0)];
  return onAPty(await program([...redRun(3), ...agents]), env);
}

// A complete frame of the live view, and one in a window wide enough for the agent's whole activity.
const [frame, wholeFrame] = ['Edit src', 'for/long\\.ts'].map(
  (doing) => new RegExp(`${doing}[^]*to go[^]*\\[\\?2026l`),
) as [RegExp, RegExp];

describe.runIf(canPty)('on a terminal', () => {
  it('CL-13 RP-1 draws the live view, redraws it for a new size, and removes it at the end', async () => {
    const run = await atWork();
    await run.seen(frame);
    expect(run.screen().screen()).toContain('  … 1 cause to go');
    run.resize(60, 20);
    await run.seen(frame);
    for (const line of run.screen().screen().slice(-5)) expect(stringWidth(line)).toBeLessThan(60);
    run.resize(120, 40);
    await run.seen(wholeFrame);
    run.type('end\n');
    expect(await run.ended()).toBe(0);
    expect(run.screen().all().findLast(Boolean)).toBe('the last screen');
  });

  it('RP-1 Ctrl-C leaves the printed lines, the cursor below them, and nothing of the live view', async () => {
    const run = await atWork();
    await run.seen(frame);
    run.type('\u0003');
    expect(await run.ended()).toBe(130);
    const lines = run.screen().all();
    expect(lines.filter(Boolean).slice(-2)).toEqual([
      expect.stringMatching(/self-heal interrupted: stopping agents, browsers and servers …$/),
      'the last screen',
    ]);
    expect(lines.join('\n')).not.toMatch(/▸|causes done/);
    expect(run.screen().cursor().column).toBe(0);
    expect(run.screen().cursorVisible).toBe(true);
  });

  it('RP-1 a crash leaves its complete message, and nothing of the live view', async () => {
    const run = await atWork();
    await run.seen(frame);
    run.type('crash\n');
    expect(await run.ended()).toBe(1);
    const text = run.screen().all().join('\n');
    expect(text).toMatch(/^Error: a bug$/m);
    expect(text).not.toMatch(/▸|causes done/);
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }])(
    'CL-6 does not move the cursor with %j, even on a terminal',
    async (env) => {
      const run = await atWork(env);
      await run.seen(/c2 attempt 1/);
      run.type('end\n');
      expect(await run.ended()).toBe(0);
      // oxlint-disable-next-line no-control-regex -- colors do not move the cursor
      expect(run.output().replaceAll(/\u001b\[[0-9;]*m/g, '')).not.toContain('\u001b');
      expect(run.output()).toContain('c1 healed');
    },
  );
});

describe('with a closed output', () => {
  it.each(['stdout', 'stderr'] as const)('CL-6 continues after its %s is closed', async (closed) => {
    const file = path.join(tempDir(), 'program.mjs');
    const module = JSON.stringify(path.join(compiledSrc(), 'outputs/streams.js'));
    // Print more than a pipe holds, as a run may at its end.
    await writeFile(
      file,
      `import { ignoreClosedReaders } from ${module};
      ignoreClosedReaders(process.stdout, process.stderr);
      process.stdin.once('data', async () => {
        for (let n = 0; n < 3; n += 1) {
          process.${closed}.write('x'.repeat(100_000));
          await new Promise((resolve) => setImmediate(resolve));
        }
        process.exit(4);
      });
      process.${closed}.write('ready');`,
    );
    const child = execa(process.execPath, [file], { reject: false, stdin: 'pipe' });
    await once(child[closed], 'data');
    child[closed].destroy();
    child.stdin.write('on\n');
    const { exitCode, ...ended } = await child;
    expect([exitCode, ended.stderr]).toEqual([4, closed === 'stdout' ? '' : 'ready']);
  });
});

describe('without a terminal', () => {
  const through = async (env: Record<string, string>) =>
    execa({
      input: 'end\n',
      env: { PATH: process.env['PATH'], ...env },
      extendEnv: false,
    })(process.execPath, (await program(redRun(1))).slice(1));

  it('CL-6 prints no colors and does not move the cursor if its output is piped', async () => {
    const { stderr } = await through({ TERM: 'xterm-256color' });
    expect(stderr).toContain('c1 runtime-error');
    expect(stderr).not.toContain('\u001b');
  });

  it('CL-6 prints colors with FORCE_COLOR, but still does not move the cursor', async () => {
    const { stderr } = await through({ FORCE_COLOR: '1' });
    expect(stderr).toContain('\u001b[31mruntime-error\u001b[39m');
    // oxlint-disable-next-line no-control-regex -- colors do not move the cursor
    expect(stderr.replaceAll(/\u001b\[[0-9;]*m/g, '')).not.toContain('\u001b');
  });
});
