import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isLong } from '../rig/long.js';
import { linkPackages } from '../rig/link-packages.js';
import { agentsYaml, userEnv } from '../rig/scratch-project.js';
import { canMount, withMounts } from '../rig/small-disk.js';
import { tempDir } from '../rig/temp-dir.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');
const files = {
  'package.json': '{ "name": "full", "type": "module" }',
  'playwright.config.mjs': "export default { testDir: '.', workers: 1, reporter: 'line' };",
  'word.mjs': "export const word = 'one';\n",
  'a.spec.mjs': `import { test, expect } from '@playwright/test';
    import { word } from './word.mjs';
    test('says two', () => expect(word).toBe('two'));`,
  'fixer.mjs': `import { writeFileSync } from 'node:fs';
    writeFileSync('word.mjs', "export const word = 'two';\\n");
    writeFileSync('more.mjs', '// ' + 'x'.repeat(Number(process.env.KB) * 1024) + '\\n');`,
  'agents.yaml': agentsYaml(['node', 'fixer.mjs']),
};

/** Runs a script in a project on a disk of 6 MB. */
async function onSmallDisk(script: string) {
  const place = tempDir('full disk');
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(place, name), text);
  await linkPackages(place);
  const begin = `mkdir disk && mount -t tmpfs -o size=6m tmpfs disk && mkdir disk/project disk/cache && cp -a ${Object.keys(files).join(' ')} node_modules disk/project && cd disk/project || exit 99`;
  return withMounts(`${begin}\n${script}`, place, { ...userEnv(), NODE: process.execPath, CLI: cli });
}

it.runIf(isLong && canMount)(
  'HN-1 HN-2 a full disk ends the run with exit code 2, and leaves the project unchanged',
  async () => {
    const ended = await onSmallDisk(`
      export XDG_CACHE_HOME=$PWD/../cache
      KB=2500 "$NODE" "$CLI" run > /dev/null; echo "run $?"
      cat word.mjs; ls; cat .self-heal/journal.json 2>/dev/null
      mount -o remount,size=30m ..
      KB=1 "$NODE" "$CLI" run > /dev/null; echo "next run $?"
      cat word.mjs; ls more.mjs`);
    const [, before = '', after = ''] = /^run 2\n([^]*)^next run 0\n([^]*)$/m.exec(ended.stdout) ?? [];
    expect(before.split('\n').filter(Boolean), `${ended.stdout}\n${ended.stderr}`).toEqual([
      "export const word = 'one';",
      ...[...Object.keys(files), 'node_modules', 'test-results'].toSorted(),
    ]);
    expect(after.split('\n')).toEqual(["export const word = 'two';", 'more.mjs']);
    expect(ended.stderr).toContain('The disk is full');
    expect(ended.stderr).not.toContain('bug in self-heal');
  },
);

it.runIf(isLong && canMount)(
  'HN-1 HN-2 a fix stays when the disk has no room for the run’s files; the next command moves them',
  async () => {
    const ended = await onSmallDisk(`
      KB=4000 "$NODE" "$CLI" run > /dev/null 2> ../err; echo "run $?"; cat ../err >&2
      cat word.mjs; ls .self-heal/runs
      "$NODE" "$CLI" report --json | grep '"outcome"'
      mount -o remount,size=30m ..
      "$NODE" "$CLI" undo --yes > /dev/null; echo "undo $?"
      cat word.mjs; ls .self-heal/latest/events.ndjson .self-heal/latest/report.json`);
    expect(ended.stdout.split('\n'), ended.stderr).toEqual([
      'run 1',
      "export const word = 'two';",
      '  "outcome": "green",',
      'undo 0',
      "export const word = 'one';",
      '.self-heal/latest/events.ndjson',
      '.self-heal/latest/report.json',
    ]);
    expect(ended.stderr).toMatch(/the files of run \S+ could not be moved [^]*moved the files of run/);
  },
);

it.runIf(isLong && canMount)(
  'HN-1 HN-2 a disk that is full during a re-run leaves no unproven fix in the project',
  async () => {
    const place = tempDir('full rerun');
    const fill = `import { test, expect } from '@playwright/test';
    import { writeFileSync } from 'node:fs';
    import { word } from './word.mjs';
    test('says two', () => {
      if (word === 'two') for (let n = 0; n < 200; n += 1) writeFileSync('filler' + n, 'x'.repeat(512 * 1024));
      expect(word).toBe('two');
    });`;
    for (const [name, text] of Object.entries({ ...files, 'a.spec.mjs': fill }))
      await writeFile(path.join(place, name), text);
    await linkPackages(place);
    const script = `
    mkdir disk && mount -t tmpfs -o size=20m tmpfs disk && cp -a ${Object.keys(files).join(' ')} node_modules disk && cd disk || exit 99
    KB=1 "$NODE" "$CLI" run > /dev/null; echo "run $?"
    cat word.mjs; ls more.mjs`;
    const ended = await withMounts(script, place, { ...userEnv(), NODE: process.execPath, CLI: cli });
    expect(ended.stdout, ended.stderr).toBe("run 2\nexport const word = 'one';");
  },
);

it.runIf(process.platform === 'linux')(
  'CL-5 exits with 2, not 1, if a full disk prevents storing an answer',
  () => {
    const ended = spawnSync(process.execPath, [cli, 'escalations', '--json'], {
      cwd: tempDir('full stdout'),
      env: userEnv(),
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    });
    expect(ended.status, ended.stderr).toBe(2);
    expect(ended.stderr).toContain('The disk is full');
  },
);
