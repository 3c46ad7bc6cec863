/** What is running, by Linux' /proc: for tests which claim that nothing is left. */
import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  pid: number;
  parentPid: number;
  /** With the pid, it tells a process from a later one that was given the same number. */
  startedAt: string;
  name: string;
}

/** All descendants of a process that are running now. */
export function descendantsOf(pid: number): RunningProcess[] {
  const all = runningProcesses();
  const found: RunningProcess[] = [];
  const parents = new Set([pid]);
  for (let before = -1; before !== parents.size; ) {
    before = parents.size;
    for (const one of all) if (parents.has(one.parentPid)) parents.add(one.pid);
  }
  for (const one of all) if (one.pid !== pid && parents.has(one.pid)) found.push(one);
  return found;
}

/** Those that have not ended. A zombie has: it waits for nothing but to be counted. */
export function stillRunning(known: readonly RunningProcess[]): RunningProcess[] {
  const now = runningProcesses();
  return known.filter(({ pid, startedAt }) =>
    now.some((one) => one.pid === pid && one.startedAt === startedAt),
  );
}

function runningProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => describe(Number(entry)));
}

function describe(pid: number): RunningProcess[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const nameEnd = stat.lastIndexOf(')'); // a name may hold blanks and brackets itself
    const fields = stat.slice(nameEnd + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return [];
    const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
    return [{ pid, parentPid: Number(fields[1]), startedAt: fields[19] ?? '', name }];
  } catch {
    return []; // ended meanwhile
  }
}
