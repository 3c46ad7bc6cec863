/** Folders for servers that run as somebody else than their starter. */
import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Guard } from './guard.ts';
import type { SystemUser } from './native-postgres.ts';

export interface WorkFolder {
  path: string;
  remove(): Promise<void>;
}

/** A temporary folder which everybody may pass through and nobody else may list. */
export async function openWorkFolder(guard: Guard): Promise<WorkFolder> {
  const path = await mkdtemp(join(await passableTemporaryFolder(), 'billonce-'));
  guard.removeLater(path);
  await chmod(path, 0o711);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      guard.keep(path);
    },
  };
}

/** The folder `name` in `parent`, made if it is missing, belonging to this user and closed to all others. */
export async function ownedFolder(parent: string, name: string, user: SystemUser | null): Promise<string> {
  const path = join(parent, name);
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (user) await chown(path, user.uid, user.gid);
  return path;
}

/**
 * Where data that are kept go: `dataDir`, or a folder in /var/tmp that is derived from it, if this user cannot
 * pass through the folders above it (a checkout in root's home, say).
 */
export async function keptFolder(dataDir: string, user: SystemUser | null): Promise<string> {
  const wanted = resolve(dataDir);
  if (await mkdir(wanted, { recursive: true })) await chmod(wanted, 0o755);
  if (!user || (await isPassable(wanted))) return wanted;
  const instead = join(
    '/var/tmp',
    `billonce-${createHash('sha256').update(wanted).digest('hex').slice(0, 12)}`,
  );
  await mkdir(instead, { recursive: true });
  await chmod(instead, 0o711);
  return instead;
}

async function passableTemporaryFolder(): Promise<string> {
  if (process.getuid?.() !== 0) return tmpdir();
  for (const folder of [tmpdir(), '/tmp', '/var/tmp']) {
    if (await isPassable(folder)) return folder;
  }
  throw new Error('there is no temporary folder that an unprivileged user can enter');
}

async function isPassable(folder: string): Promise<boolean> {
  const passable = ((await stat(folder)).mode & 0o001) !== 0;
  return passable && (dirname(folder) === folder || isPassable(dirname(folder)));
}
