/** Asks the services that a process depends on, each with a time limit, all at once. */

const CHECK_TIMEOUT_MS = 2_000;

export interface ServiceCheck {
  name: string;
  /** Without a required service the process cannot do its work; without another it does part of it. */
  required: boolean;
  /** Rejects with one sentence that a person can act on. */
  check: () => Promise<void>;
}

export interface Readiness {
  status: 'ok' | 'degraded' | 'unavailable';
  /** `ok`, or what is wrong. */
  checks: Record<string, string>;
}

export async function checkReadiness(services: readonly ServiceCheck[]): Promise<Readiness> {
  const answers = await Promise.all(
    services.map(async (service) => ({ service, answer: await ask(service) })),
  );
  const failed = answers.filter(({ answer }) => answer !== 'ok');
  const status = failed.some(({ service }) => service.required)
    ? 'unavailable'
    : failed.length > 0
      ? 'degraded'
      : 'ok';
  return { status, checks: Object.fromEntries(answers.map(({ service, answer }) => [service.name, answer])) };
}

async function ask(service: ServiceCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(
      () => resolve(`${service.name} did not answer within ${CHECK_TIMEOUT_MS / 1000} s`),
      CHECK_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([service.check().then(() => 'ok'), late]);
  } catch (error) {
    return error instanceof Error ? error.message : `${service.name} cannot be reached`;
  } finally {
    clearTimeout(timer);
  }
}
