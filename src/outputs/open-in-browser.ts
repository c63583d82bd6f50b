import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

/**
 * Opens a private URL in the user's browser through a file that redirects to it, because `ps` shows program arguments to every user. Prints a
 * message if that fails; the caller has printed the URL. Disposing deletes the file.
 */
export async function openInBrowser(url: string): Promise<AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'self-heal-open-'));
  const file = path.join(folder, 'self-heal.html');
  try {
    await writeFile(file, renderRedirect(url), { mode: 0o600 });
    const { default: open } = await import('open');
    await open(file);
  } catch {
    process.stderr.write('self-heal: could not open a browser; open the page yourself.\n');
  }
  return { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function renderRedirect(url: string): string {
  return `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${url}">\n`;
}
