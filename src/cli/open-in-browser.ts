import process from 'node:process';

/** Opens a file or URL in the person's own browser; where there is none, says so, since the place has been printed. */
export async function openInBrowser(target: string): Promise<void> {
  try {
    const { default: open } = await import('open');
    await open(target);
  } catch {
    process.stderr.write('self-heal: could not open a browser; open it yourself.\n');
  }
}
