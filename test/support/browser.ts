/** Headless Chromium, which remembers whatever its pages complained about. */
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ACTION_WITHIN_MS = 15_000;

/** Takes the browser from `CHROMIUM` or from where systems put it. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = [process.env.CHROMIUM ?? '', ...PLACES].find((path) => existsSync(path));
  if (!executablePath) throw new Error('no Chromium was found: install it, or say where it is in CHROMIUM');
  // As root it refuses its sandbox; it only ever opens pages that the tests serve themselves.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...asRoot, '--disable-gpu', '--disable-quic'] });
}

export interface WatchedPage {
  page: Page;
  /** Errors and warnings of the console, exceptions, and requests to other servers. */
  complaints: string[];
}

export async function openPage(browser: Browser, serverUrl: string): Promise<WatchedPage> {
  const page = await browser.newPage({ baseURL: serverUrl, viewport: { width: 1200, height: 900 } });
  page.setDefaultTimeout(ACTION_WITHIN_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !url.startsWith(`${serverUrl}/`)) complaints.push(`asked for ${url}`);
  });
  return { page, complaints };
}
