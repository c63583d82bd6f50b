import process from 'node:process';

/** Opens a file or URL in the user's browser. If that fails, says so; the location has already been printed. */
export async function openInBrowser(target: string): Promise<void> {
  try {
    const { default: open } = await import('open');
    await open(target);
  } catch {
    process.stderr.write('self-heal: could not open a browser; open the page yourself.\n');
  }
}
