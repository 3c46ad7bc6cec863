/**
 * Every refusal leaves the API in one shape (RFC 9457, `application/problem+json`), and one table says which status
 * an error's code has. What is not ours to explain to a caller is logged and answered without details.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { BillingError, ErrorCode, Fault } from '../errors.ts';
import { asBillingError, type HttpOnlyCode, httpOnlyCodeOf } from './foreign-errors.ts';

const problemSchema = z
  .object({
    type: z.string().describe('A URN that names the kind of problem'),
    title: z.string().describe('The same for every problem of this kind'),
    status: z.int().min(400).max(599).describe('The HTTP status'),
    code: z.string().describe('For programs to branch on'),
    detail: z.string().describe('What went wrong this time, for a person'),
    errors: z
      .array(
        z.object({
          field: z.string().describe('A path such as lines[2].unitPrice; empty for the body as a whole'),
          code: z.string(),
          message: z.string().describe('What to do about it'),
        }),
      )
      .describe('Every fault of the request, all at once; empty where no field is to blame'),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused (RFC 9457)' });

type Problem = z.output<typeof problemSchema>;
type ProblemCode = ErrorCode | HttpOnlyCode;

const RETRY_AFTER_SECONDS = 5;
const DRAIN_MS = 5_000;

const PROBLEMS: Record<ProblemCode, { status: number; title: string }> = {
  invalid: { status: 400, title: 'The request has faults' },
  unauthorized: { status: 401, title: 'No valid key was given' },
  forbidden: { status: 403, title: 'This is not allowed' },
  not_found: { status: 404, title: 'There is no such thing' },
  conflict: { status: 409, title: 'The state of things does not allow it' },
  too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The address is too long' },
  unsupported_media_type: { status: 415, title: 'The body is of a kind that is not taken' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong here' },
  unavailable: { status: 503, title: 'A service that is needed cannot be reached' },
  // These come from jobs and from start-up; over HTTP they would be faults of ours.
  lock_busy_too_long: { status: 503, title: 'A service that is needed is busy' },
  invalid_payload: { status: 500, title: 'Something went wrong here' },
  configuration: { status: 500, title: 'Something went wrong here' },
};

/** What a route may answer besides success, for the OpenAPI document: `401`, `403`, `429`, … with their bodies. */
export function problemResponses(...codes: readonly ProblemCode[]) {
  const everywhere: ProblemCode[] = [
    'invalid',
    'unauthorized',
    'forbidden',
    'rate_limited',
    'internal',
    'unavailable',
  ];
  const entries = [...everywhere, ...codes].map((code) => {
    const { status, title } = PROBLEMS[code];
    return [
      status,
      { description: title, content: { 'application/problem+json': { schema: problemSchema } } },
    ];
  });
  return Object.fromEntries(entries) as Record<number, never>;
}

/** Routes that do not exist, and whatever a route, a hook or Fastify itself throws. */
export function registerProblems(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  fastify.setNotFoundHandler((_request, reply) =>
    sendProblem(reply, problemOf('not_found', 'There is nothing at this address; /docs lists what there is')),
  );
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = describe(error);
  if (problem.status >= 500) {
    const route = request.routeOptions?.url ?? 'unmatched';
    request.log.error({ err: error, method: request.method, route }, 'a request failed');
  }
  return sendProblem(reply, problem);
}

function describe(error: unknown): Problem {
  const known = asBillingError(error);
  if (known) return ofBillingError(known);
  const { code, detail } = httpOnlyCodeOf(error);
  return problemOf(code, detail);
}

function ofBillingError(error: BillingError): Problem {
  // A message about our own services may name hosts; the log has it.
  if (PROBLEMS[error.code].status >= 500) return problemOf(error.code, 'Try again a little later');
  return problemOf(error.code, error.message, error.faults);
}

function problemOf(code: ProblemCode, detail: string, faults: readonly Fault[] = []): Problem {
  const { status, title } = PROBLEMS[code];
  const errors = faults.map(({ field, code: faultCode, message }) => ({ field, code: faultCode, message }));
  return { type: `urn:billonce:problem:${code}`, title, status, code, detail, errors };
}

/** Written out here, so that no route's response schema can drop a part of it. */
function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (problem.status === 413) readToTheEnd(reply);
  return reply
    .code(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(problem));
}

/**
 * Hanging up on a caller who still sends would reset the connection, and the answer would be lost with it. Node
 * reads what is left and drops it; here it only gets a limit.
 */
function readToTheEnd(reply: FastifyReply): void {
  const { raw } = reply.request;
  reply.removeHeader('connection');
  const hangUp = setTimeout(() => raw.destroy(), DRAIN_MS);
  raw.once('close', () => clearTimeout(hangUp));
}
