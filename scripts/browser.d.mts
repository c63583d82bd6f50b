export function launchOptions(): { executablePath?: string; args: string[] };
export function findBrowser(say: (text: string) => void): Promise<string>;
