import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { addMcpServer } from '../../src/clients/init/developer-agent.js';
import { tempDir } from '../rig/temp-dir.js';
import { realPrograms } from './real-program.js';
import { startStubApi } from './stub-api.js';

const cli = path.resolve(import.meta.dirname, '../../bin/self-heal.js');

describe.each(realPrograms.filter(({ name }) => name === 'claude'))('$name', (program) => {
  it('MC-1 lists the tools of the server that init wrote, and calls one', async () => {
    const project = tempDir('project');
    const written = addMcpServer(null);
    if (!written.ok) throw new Error(written.error.message);
    // As installed there, npx would find this build.
    const command = JSON.stringify({ command: process.execPath, args: [cli, 'mcp'] });
    const config = written.value.replace(/\{\s*"command": "npx"[^}]*\}/, () => command);
    writeFileSync(path.join(project, '.mcp.json'), config);
    const tool = 'mcp__self-heal__open_questions';
    await using stub = await startStubApi([{ calls: [{ tool, input: {} }] }, { text: 'Nothing is open.' }]);
    const args = ['-p', 'What waits for me?', '--mcp-config', '.mcp.json', '--allowedTools', tool];
    const env = program.env(stub.url);
    const { exitCode, stdout } = await execa('claude', args, {
      cwd: project,
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      preferLocal: false,
    });
    expect(exitCode, stdout).toBe(0);
    const bodies = stub.requests.filter(({ isMain }) => isMain).map(({ body }) => body);
    for (const name of ['run_tests', 'get_failure', 'check_fix', 'blame', 'answer_question'])
      expect(bodies[0]).toContain(`mcp__self-heal__${name}`);
    expect(bodies[1]).toContain('No question is open.');
  });
});
