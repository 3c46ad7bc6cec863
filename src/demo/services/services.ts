/** What the demo, the tests, chaos and bench get from a machine, whatever it has. */

/** `given`: by TEST_DATABASE_URL or TEST_REDIS_URL; the others were started here and end with us. */
export type ServiceKind = 'given' | 'containers' | 'embedded';

/** For servers that were started here. Nothing may be stopped, flushed or reconfigured elsewhere. */
export interface ServerControl {
  /** An orderly end; resolves when the server is gone. Stopped already: nothing happens. */
  stop(): Promise<void>;
  /** As by kill −9. */
  kill(): Promise<void>;
  /** On the same port; resolves when the server answers. Running already: nothing happens. */
  start(): Promise<void>;
  restart(): Promise<void>;
}

export interface FreshDatabase {
  name: string;
  url: string;
  /** Closes the connections that are still open. Run twice: nothing happens. */
  drop(): Promise<void>;
}

export interface PostgresService {
  kind: ServiceKind;
  /** A database of this run alone. */
  url: string;
  /** Null where the server is somebody else's. */
  server: ServerControl | null;
  /**
   * Another database of this run alone: empty, or a copy of `template` (the name of one of this run's databases,
   * to which nobody may be connected meanwhile). It is dropped at the end of the run at the latest.
   */
  freshDatabase(options?: { template?: string }): Promise<FreshDatabase>;
}

export interface RedisService {
  kind: ServiceKind;
  url: string;
  /** Of this run alone, with a hash tag: `{billonce-…}`. Keys under it and under fresh ones go at the end. */
  prefix: string;
  freshPrefix(): string;
  /** Null where the server is somebody else's. */
  server: ServerControl | null;
}

export interface Services {
  postgres: PostgresService;
  redis: RedisService;
  /** Ends everything that was started, and removes everything that was made. Run twice: the same promise. */
  close(): Promise<void>;
}

/** One way to come by a service; its `close` leaves nothing behind. */
export interface Opened<T> {
  service: T;
  /** For the announcement: `version 18.4 at 127.0.0.1:20123`. */
  description: string;
  close(): Promise<void>;
}
